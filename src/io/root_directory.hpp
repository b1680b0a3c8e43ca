#pragma once

#include <filesystem>
#include <memory>

#include "io/directory.hpp"

namespace eckart::io {

/// A directory that was found at a path, and the only way to what is below it: all below it is
/// opened relative to its descriptor, without following links unless `links` says so. Between calls
/// it holds no descriptor, so that its file system can be unmounted. Thread-safe.
class RootDirectory {
 public:
  /// LinkPolicy in `path` are followed. nullptr, with errno, if there is no directory.
  static std::shared_ptr<const RootDirectory> open(const std::filesystem::path& path,
                                                   LinkPolicy links = LinkPolicy::none);

  /// Where it was found, and is looked for each time.
  const std::filesystem::path& path() const { return path_; }
  LinkPolicy links() const { return links_; }
  const FileId& id() const { return id_; }

  /// The directory at this relative path, the root itself for the empty path. nullptr, with errno,
  /// if there is none, if another directory is at the root's path by now (ENOENT), or if a link
  /// stands in the relative path (ELOOP, ENOTDIR).
  DirectoryPtr open_below(const std::filesystem::path& relative) const;
  /// Likewise, but makes the directories that are missing. Never follows a link.
  DirectoryPtr make_below(const std::filesystem::path& relative) const;

  /// Removes an entry, which may be a link, but not a directory. Whether it could, and else errno.
  bool remove_below(const std::filesystem::path& relative) const;

 private:
  RootDirectory(std::filesystem::path path, LinkPolicy links, FileId id)
      : path_(std::move(path)), links_(links), id_(id) {}
  DirectoryPtr open() const;

  const std::filesystem::path path_;
  const LinkPolicy links_;
  const FileId id_;
};
using RootDirectoryPtr = std::shared_ptr<const RootDirectory>;

}  // namespace eckart::io
