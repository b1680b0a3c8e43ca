#pragma once

#include <cstdint>

namespace eckart {

/// Identifies the state of a file: it changes if the file is written to or replaced.
struct FileState {
  std::int64_t size = 0, mtime_ns = 0, inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

}  // namespace eckart
