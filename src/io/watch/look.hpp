#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/file_state.hpp"

namespace eckart::io {

/// What a file looks like from outside; it is still as long as nothing of this changes.
struct Seen {
  FileState file;
  std::int64_t ctime_ns = 0;  ///< which, unlike mtime, no program can set
  friend bool operator==(const Seen&, const Seen&) = default;
};

struct Look {
  enum Kind { nothing, file, folder, other };
  Kind kind = nothing;
  Seen seen;      ///< of a file
  int error = 0;  ///< why there is nothing, where it is not that there is nothing
};

/// What is there, or where a link leads to.
Look look_at(const std::filesystem::path& path);

/// How long ago it was changed, by the wall clock; negative where that was set back since.
std::chrono::nanoseconds age_of(const Seen& seen);

/// Tells folders apart, however they are called.
struct FolderId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FolderId&, const FolderId&) = default;
};

/// Of a folder, or where a link leads to; nothing, with errno, where there is none.
std::optional<FolderId> folder_at(const std::filesystem::path& path);

}  // namespace eckart::io
