#pragma once

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "io/directory.hpp"

namespace eckart::io {

/// Folders whose files are never inputs, by whatever path they are found: a link or a mount may
/// lead to them. They need not exist, and an empty path is none.
class OwnFolders {
 public:
  /// Shared, because each of many watches has the folders of all.
  using Folder = std::shared_ptr<const std::filesystem::path>;
  OwnFolders() = default;
  explicit OwnFolders(std::vector<Folder> folders) : folders_(std::move(folders)) {}
  explicit OwnFolders(const std::vector<std::filesystem::path>& folders);

  /// The folder that is this directory now; null if there is none. Accesses the file system.
  const std::filesystem::path* find(const FileId& directory) const;
  /// The folder that the path is in, or equals, once links are resolved; null if there is none.
  const std::filesystem::path* find_around(const std::filesystem::path& path) const;

 private:
  std::vector<Folder> folders_;
};

}  // namespace eckart::io
