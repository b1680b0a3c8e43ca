#pragma once

#include <cstdint>
#include <string>

namespace eckart::telemetry {

/// The progress of a run. `total` is final once all inputs have been listed.
struct ProgressState {
  std::int64_t done = 0;  ///< finished images, including failures
  std::int64_t failed = 0;
  std::int64_t total = 0;  ///< found so far
  bool is_total_final = false;
  std::int64_t skipped = 0;  ///< part of `done`; not part of the rate, as it takes almost no time
  std::string activity{};    ///< the longest running step, such as "compute for 12 s"
  std::string bottleneck{};  ///< such as "write 97 % busy"; empty: unknown
};

}  // namespace eckart::telemetry
