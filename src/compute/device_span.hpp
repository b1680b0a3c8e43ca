#pragma once

#include <chrono>

#include "core/instant.hpp"

namespace eckart::compute {

/// What one engine of a device did for a batch, in the time of the host's clock.
struct DeviceSpan {
  enum Kind { copy_in, compute, copy_out };
  using Time = Instant;
  Kind kind;
  int planes;         ///< planes of the batch, or of the recomputed part
  bool is_recompute;  ///< recomputation of uncertified planes
  Time begin, end;
  /// Maximum error of `begin` and `end` against the host's clock.
  std::chrono::nanoseconds clock_error;
};
constexpr int kDeviceSpanKindCount = DeviceSpan::copy_out + 1;

}  // namespace eckart::compute
