#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// A path to a directory, whose symbolic links are those at its construction. A component that
/// becomes a link later is not followed: the directory may have been moved away, and the link may
/// lead to it. A link that was there before is followed, wherever it leads later. Thread-safe.
class RootPath {
 public:
  explicit RootPath(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  bool has_links() const;
  /// Opens the directory with O_PATH. Returns an invalid descriptor, with errno, on failure: ELOOP
  /// if a component has become a link.
  files::FileDescriptor open() const;

 private:
  /// One link, or some components that are no links.
  struct Step {
    std::string path;
    bool is_link = false;
  };

  const std::filesystem::path path_;
  std::vector<Step> steps_;
};

}  // namespace eckart::io
