#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

/// Gives the copy, which is this entry of a directory, its name; false with errno.
using PutInPlace = std::function<bool(int directory, const std::string& name)>;

/// Copies a regular file, or a link itself, to another file system: with its times, and on the disk
/// before it has its name. False where there is an entry of that name. Never waits for a FIFO.
/// Throws ItemError(not_written), also if the file changes meanwhile, or EnvironmentError.
bool copy_file(const DirectoryEntry& from, const DirectoryEntry& to, const CopyLimits& limits,
               const PutInPlace& put);

}  // namespace eckart::io
