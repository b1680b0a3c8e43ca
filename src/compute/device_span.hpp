#pragma once

#include <chrono>

namespace eckart {

/// What an engine of a device did for a batch, by the host's clock.
struct DeviceSpan {
  enum Kind { copy_in, compute, copy_out };
  using Time = std::chrono::steady_clock::time_point;
  Kind kind;
  int planes;         ///< that it was done for
  bool is_recompute;  ///< what the first solver had not settled
  Time begin, end;
  std::chrono::nanoseconds clock_error;  ///< that both may have together, against the host's clock
};
constexpr int kDeviceSpanKindCount = DeviceSpan::copy_out + 1;

}  // namespace eckart
