#pragma once

#include <chrono>

namespace eckart::io {

/// A time of the monotonic clock, which cannot be set.
using Instant = std::chrono::steady_clock::time_point;

}  // namespace eckart::io
