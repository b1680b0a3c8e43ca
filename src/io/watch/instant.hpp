#pragma once

#include <chrono>

namespace eckart::io {

/// A time that no one sets.
using Instant = std::chrono::steady_clock::time_point;

}  // namespace eckart::io
