#pragma once

#include <string>

namespace eckart::machine {

/// Formats seconds since 1970 as 2026-11-22T21:00:00.123Z.
std::string utc_timestamp(double unix_s);
/// The current time in seconds since 1970.
double unix_now_s();

}  // namespace eckart::machine
