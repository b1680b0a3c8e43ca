#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "files/file_descriptor.hpp"
#include "files/file_state.hpp"
#include "files/link_policy.hpp"

struct stat;

namespace eckart::io {

/// Identifies a file or directory independently of its names.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

/// Identifies a file in one state.
struct FileIdentity {
  files::FileState state;
  dev_t device = 0;
  std::int64_t ctime_ns = 0;  ///< programs cannot set it; a rename changes it
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const struct stat& status);

/// Whether both are the same file in the same state. A rename between the two does not matter.
bool equal_except_ctime(const FileIdentity& a, const FileIdentity& b);

/// An open directory. It remains the same directory when it is moved. Pass its descriptor to
/// functions of the `openat` family, with names of one component only.
class Directory {
 public:
  /// Returns nullptr, with errno, if `descriptor` is invalid. O_PATH descriptors are allowed.
  static std::shared_ptr<const Directory> adopt(files::FileDescriptor descriptor);

  int descriptor() const { return descriptor_.get(); }
  const FileId& id() const { return id_; }
  /// Whether the directory has an entry of this name. Symbolic links are not followed.
  bool contains(const std::string& name) const;
  /// Opens the same directory for reading. Returns an invalid descriptor, with errno, on failure.
  files::FileDescriptor open_for_reading() const;

 private:
  Directory(files::FileDescriptor descriptor, FileId id)
      : descriptor_(std::move(descriptor)), id_(id) {}

  files::FileDescriptor descriptor_;
  FileId id_;
};
using DirectoryPtr = std::shared_ptr<const Directory>;

/// Whether the error means that the directory does not exist or that its path contains a symbolic
/// link that may not be followed.
bool is_missing_error(int error);

}  // namespace eckart::io
