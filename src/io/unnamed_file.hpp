#pragma once

#include <sys/types.h>

#include <filesystem>

#include "files/file_descriptor.hpp"
#include "io/directory.hpp"

namespace eckart::io {

/// How a file without a name (O_TMPFILE) gets one in its folder.
enum class LinkMethod {
  none,        ///< not at all: files need a name from the start
  descriptor,  ///< linkat with AT_EMPTY_PATH
  proc,        ///< linkat of /proc/self/fd: older kernels permit the other only to root
};

/// Returns the method for files in this folder. Tries it once per file system and process. `none`
/// unless the file system is one (ext4, XFS, tmpfs) on which an fsync of a file without a name
/// makes its data durable, and close() reports no error that fsync() and write() do not; and unless
/// such a file has the same permissions as one with a name. Thread-safe.
LinkMethod link_method(const std::filesystem::path& folder);
/// The same for an open folder.
LinkMethod link_method(const Directory& folder);

/// Creates a file without a name in a folder, for writing. It disappears if it is closed before it
/// gets one. `path` is that of the folder, relative to `folder`, as in openat(). Returns an invalid
/// descriptor, with errno, on failure.
files::FileDescriptor open_unnamed(int folder, const std::filesystem::path& path,
                                   mode_t mode = 0666);

/// Gives the file a name in the folder in which it was created. `path` is relative to `folder`, as
/// in linkat(). Never replaces a file: returns false, with errno (EEXIST), on failure.
bool link_unnamed(const files::FileDescriptor& file, LinkMethod method, int folder,
                  const std::filesystem::path& path);

}  // namespace eckart::io
