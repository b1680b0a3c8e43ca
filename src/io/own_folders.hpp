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

  /// The folder that this directory at `path` is now, or is in; null if there is none. Bind mounts
  /// are noticed if there is /proc and the kernel is Linux 5.8 or later; otherwise the real path
  /// decides. Accesses the file system.
  const std::filesystem::path* find(const Directory& directory,
                                    const std::filesystem::path& path) const;
  /// These folders without those that the root of a search is in: it is searched all the same.
  OwnFolders without_those_around(const Directory& root, const std::filesystem::path& path) const;
  const std::vector<Folder>& folders() const { return folders_; }

 private:
  std::vector<Folder> folders_;
};

}  // namespace eckart::io
