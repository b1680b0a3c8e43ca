#pragma once

#include <algorithm>
#include <cstdint>

namespace eckart {

/// MiB of memory for files, decoders and pixels in flight, if the setting `budget_mb` is `auto` and
/// the process may use `memory_mb`: a 16th. More than 8 GiB does not make a run with a GPU faster
/// (docs/explanation/performance.md). At least 2 GiB, unless that is more than a quarter of the
/// memory: lanes and write threads use memory too (docs/explanation/reliability.md).
constexpr std::int64_t default_budget_mb(std::int64_t memory_mb) {
  constexpr std::int64_t kMinMb = 2048, kMaxMb = 8192;
  const std::int64_t min_mb = std::min(kMinMb, memory_mb / 4);
  return std::clamp(memory_mb / 16, std::max<std::int64_t>(1, min_mb), kMaxMb);
}

}  // namespace eckart
