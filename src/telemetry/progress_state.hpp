#pragma once

#include <cstdint>
#include <string>

namespace eckart::telemetry {

/// How far a run is. `total` is known once everything has been listed.
struct ProgressState {
  std::int64_t done = 0;  ///< images finished, failures included
  std::int64_t failed = 0;
  std::int64_t total = 0;  ///< found so far
  bool total_is_final = false;
  std::int64_t skipped = 0;  ///< of those finished; takes no time to speak of, so no rate
  std::string bottleneck{};  ///< "write 97 % busy": what limits the rate; empty: not known
};

}  // namespace eckart::telemetry
