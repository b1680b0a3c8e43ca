#pragma once

#include <string>

namespace eckart::machine {

/// Seconds since 1970, as 2026-11-22T21:00:00.123Z.
std::string utc_timestamp(double unix_s);
/// Now.
double unix_now_s();

}  // namespace eckart::machine
