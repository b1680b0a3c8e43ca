#pragma once

#include <chrono>

namespace eckart {

/// The monotonic clock, which cannot be set.
using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

}  // namespace eckart
