#pragma once

#include <fcntl.h>

#include <filesystem>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// Flags of directories that are only the begin of paths.
inline constexpr int kPathFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

/// Opens a directory with kPathFlags, relative to a descriptor. Follows no symbolic link. Returns
/// an invalid descriptor, with errno, on failure: ELOOP for a link.
files::FileDescriptor open_without_links(int directory, const std::filesystem::path& path);

/// The same for a relative path that must not lead out of the directory: EXDEV.
files::FileDescriptor open_beneath(int directory, const std::filesystem::path& relative);

/// open_beneath() that creates missing directories.
files::FileDescriptor make_beneath(int directory, const std::filesystem::path& relative);

}  // namespace eckart::io
