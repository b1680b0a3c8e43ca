#pragma once

#include <cstdint>

namespace eckart {

/// What a file looks like from outside; one that is written to, or replaced, looks different.
struct FileState {
  std::int64_t size = 0, mtime_ns = 0, inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

}  // namespace eckart
