#pragma once

#include <time.h>

#include <cstdint>

namespace eckart::files {

/// Identifies the state of a file: it changes if the file is written to or replaced.
struct FileState {
  std::int64_t size = 0, mtime_ns = 0, inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

/// Nanoseconds since 1970. Wraps in the year 2262, which is harmless: times are only compared for
/// equality.
inline std::int64_t in_ns(const timespec& time) {
  constexpr std::uint64_t kSecond = 1000000000;
  return std::int64_t(std::uint64_t(time.tv_sec) * kSecond + std::uint64_t(time.tv_nsec));
}

}  // namespace eckart::files
