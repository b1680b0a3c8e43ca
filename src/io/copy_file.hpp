#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/directory.hpp"

namespace eckart::io {

/// An entry of an open directory. `path` is for messages and for syncing the folder.
struct DirectoryEntry {
  const Directory& directory;
  std::string name;
  std::filesystem::path path;
};

struct CopyLimits {
  std::int64_t max_mb;           ///< MiB; a larger file is not copied
  const FileIdentity* expected;  ///< the file must have this identity; nullptr: any
};

/// Copies a regular file, or a symbolic link itself, to another file system. The copy has the
/// times, the mode and, if permitted, the owner of the original. The copy and its entry are
/// durable. Returns the ID of the copy, or nullopt if the target exists. Throws
/// ItemError(not_written), also if the file changes during the copy, or EnvironmentError; then
/// there is no copy. Never blocks on a FIFO.
std::optional<FileId> copy_file(const DirectoryEntry& from, const DirectoryEntry& to,
                                const CopyLimits& limits);

/// Removes the copy unless another file has its name.
void remove_copied_file(const DirectoryEntry& entry, const FileId& copy);

}  // namespace eckart::io
