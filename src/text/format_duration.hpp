#pragma once

#include <string>

namespace eckart::text {

/// Three significant digits below a minute: "68.9 ns", "1.94 us", "16.4 ms", "28.4 s"; then "3 min
/// 5 s", "4 h 3 min", "12 d 3 h", "50 days". "-" if not finite or negative.
std::string format_duration(double seconds);

}  // namespace eckart::text
