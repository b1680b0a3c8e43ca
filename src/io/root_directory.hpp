#pragma once

#include <filesystem>
#include <memory>

#include "io/directory.hpp"
#include "io/root_path.hpp"

namespace eckart::io {

/// A directory at a path, and the only way to access what is below it. Paths below it are opened
/// relative to its descriptor. Links are not followed unless `links` allows it. Between calls no
/// descriptor is open, so that the file system can be unmounted. Thread-safe.
class RootDirectory {
 public:
  /// Returns nullptr, with errno, if there is no directory, or a component of the path has become a
  /// link (ELOOP).
  static std::shared_ptr<const RootDirectory> open(
      const RootPath& path, files::LinkPolicy links = files::LinkPolicy::none);
  /// The same with the links of now.
  static std::shared_ptr<const RootDirectory> open(
      const std::filesystem::path& path, files::LinkPolicy links = files::LinkPolicy::none);

  /// The path at which each call opens the directory again.
  const std::filesystem::path& path() const { return path_.path(); }
  /// See RootPath.
  const std::filesystem::path& real_path() const { return path_.real_path(); }
  files::LinkPolicy links() const { return links_; }
  const FileId& id() const { return id_; }

  /// Opens the directory at a relative path; an empty path is the root itself. Returns nullptr,
  /// with errno, if it does not exist, if another directory is at the path of the root (ENOENT), if
  /// a component of that path has become a link (ELOOP), or if the relative path contains a link
  /// (ELOOP, ENOTDIR).
  DirectoryPtr open_below(const std::filesystem::path& relative) const;
  /// Like open_below(), but creates missing directories. Never follows a link.
  DirectoryPtr make_below(const std::filesystem::path& relative) const;

  /// Removes a file or a link, but not a directory. Returns false, with errno, on failure.
  bool remove_below(const std::filesystem::path& relative) const;

 private:
  RootDirectory(const RootPath& path, files::LinkPolicy links, FileId id)
      : path_(path), links_(links), id_(id) {}
  DirectoryPtr open() const;

  const RootPath path_;
  const files::LinkPolicy links_;
  const FileId id_;
};
using RootDirectoryPtr = std::shared_ptr<const RootDirectory>;

}  // namespace eckart::io
