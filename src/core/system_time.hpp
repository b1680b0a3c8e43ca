#pragma once

#include <chrono>
#include <cstdint>

namespace eckart {

/// Nanoseconds since 1970 by the system's clock, which may be set back.
inline std::int64_t system_time_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace eckart
