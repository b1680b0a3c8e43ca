#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "files/file_descriptor.hpp"
#include "files/file_state.hpp"

struct stat;

namespace eckart::io {

/// Which symbolic links below a root are followed. LinkPolicy in the path of the root itself always
/// are.
enum class LinkPolicy {
  none,
  files,  ///< links to regular files, wherever they lead
  all,    ///< links to directories, too
};

/// Identifies a file or directory, whatever its names are.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

/// Identifies a file in a certain state.
struct FileIdentity {
  FileState state;
  dev_t device = 0;
  std::int64_t ctime_ns = 0;  ///< cannot be set by programs; a rename changes it
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const struct stat& status);

/// Whether both are the same file in the same state, though it may have been renamed between.
bool equal_except_ctime(const FileIdentity& a, const FileIdentity& b);

/// An open directory. It stays the same directory when it is moved. Its descriptor is for the
/// functions of the `openat` family, always with names that are single components.
class Directory {
 public:
  /// nullptr, with errno, if `descriptor` is none. `descriptor` may be opened with O_PATH.
  static std::shared_ptr<const Directory> adopt(FileDescriptor descriptor);

  int descriptor() const { return descriptor_.get(); }
  const FileId& id() const { return id_; }
  /// Whether an entry has this name; a link is an entry, too.
  bool has(const std::string& name) const;
  /// The same directory, opened for reading; none, with errno.
  FileDescriptor open_for_reading() const;

 private:
  Directory(FileDescriptor descriptor, FileId id) : descriptor_(std::move(descriptor)), id_(id) {}

  FileDescriptor descriptor_;
  FileId id_;
};
using DirectoryPtr = std::shared_ptr<const Directory>;

/// Whether the error says that there is no such directory, or that a link stands in its path.
bool is_missing_error(int error);

}  // namespace eckart::io
