#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/directory.hpp"

namespace eckart::io {

/// An entry of an open directory; `path` is for messages, and for what is to be on the disk.
struct DirectoryEntry {
  const Directory& directory;
  std::string name;
  std::filesystem::path path;
};

struct CopyLimits {
  std::int64_t max_mb;           ///< MiB; a larger file is not copied
  const FileIdentity* expected;  ///< the file that is meant; nullptr: any
};

/// Copies a regular file, or a link itself, to another file system: with its times, mode and, as
/// far as this process may, owner; on the disk, with its entry. The copy; nothing where there is an
/// entry of that name. Where this throws there is no copy: ItemError(not_written), also if the file
/// changes meanwhile, or EnvironmentError. Never waits for a FIFO.
std::optional<FileId> copy_file(const DirectoryEntry& from, const DirectoryEntry& to,
                                const CopyLimits& limits);

/// Unless another file has its name by now.
void remove_copied_file(const DirectoryEntry& entry, const FileId& copy);

}  // namespace eckart::io
