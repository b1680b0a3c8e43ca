#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// A path to a directory, whose symbolic links are those at its construction. A component that
/// becomes a link later, or a link that changes its target, is not followed: the directory may have
/// been moved away, and the link may lead to it. The same holds for the targets of links.
/// Thread-safe.
class RootPath {
 public:
  explicit RootPath(std::filesystem::path path);
  /// No component may be a link, not even at the construction.
  static RootPath without_links(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  /// The path without links: to where they led at the construction. Absolute if `path` is.
  const std::filesystem::path& real_path() const { return real_path_; }
  bool has_links() const;
  /// Returns the path of a directory in this one, which must never be a link.
  RootPath child(const std::string& name) const;
  /// Opens the directory with O_PATH. Returns an invalid descriptor, with errno, on failure: ELOOP
  /// if a component has become a link, or a link has another target.
  files::FileDescriptor open() const;

 private:
  RootPath() = default;

  /// Some components that are no links, or one link and its target.
  struct Step {
    std::string path;
    std::string target{};  // empty if it is no link
  };
  class Expansion;

  std::filesystem::path path_, real_path_;
  std::vector<Step> steps_;
};

}  // namespace eckart::io
