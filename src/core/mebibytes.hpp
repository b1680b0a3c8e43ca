#pragma once

#include <cstdint>

namespace eckart {

constexpr std::int64_t kMiB = 1 << 20;

/// Bytes in MiB, rounded up.
constexpr std::int64_t in_mebibytes(std::uint64_t bytes) {
  return std::int64_t(bytes / kMiB + (bytes % kMiB != 0 ? 1 : 0));
}

}  // namespace eckart
