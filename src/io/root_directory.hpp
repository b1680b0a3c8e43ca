#pragma once

#include <filesystem>
#include <memory>

#include "io/directory.hpp"

namespace eckart::io {

/// A directory at a path, and the only way to access what is below it. Paths below it are opened
/// relative to its descriptor. Links are not followed unless `links` allows it. Between calls no
/// descriptor is open, so that the file system can be unmounted. Thread-safe.
class RootDirectory {
 public:
  /// Links in `path` are followed. Returns nullptr, with errno, if there is no directory.
  static std::shared_ptr<const RootDirectory> open(
      const std::filesystem::path& path, files::LinkPolicy links = files::LinkPolicy::none);

  /// The path at which each call opens the directory again.
  const std::filesystem::path& path() const { return path_; }
  files::LinkPolicy links() const { return links_; }
  const FileId& id() const { return id_; }

  /// Opens the directory at a relative path; an empty path is the root itself. Returns nullptr,
  /// with errno, if it does not exist, if another directory is at the path of the root (ENOENT), or
  /// if the relative path contains a link (ELOOP, ENOTDIR).
  DirectoryPtr open_below(const std::filesystem::path& relative) const;
  /// Like open_below(), but creates missing directories. Never follows a link.
  DirectoryPtr make_below(const std::filesystem::path& relative) const;

  /// Removes a file or a link, but not a directory. Returns false, with errno, on failure.
  bool remove_below(const std::filesystem::path& relative) const;

 private:
  RootDirectory(std::filesystem::path path, files::LinkPolicy links, FileId id)
      : path_(std::move(path)), links_(links), id_(id) {}
  DirectoryPtr open() const;

  const std::filesystem::path path_;
  const files::LinkPolicy links_;
  const FileId id_;
};
using RootDirectoryPtr = std::shared_ptr<const RootDirectory>;

}  // namespace eckart::io
