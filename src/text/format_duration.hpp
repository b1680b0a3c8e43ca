#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <string>

namespace eckart::text {

/// Formats as 340 us, 2.1 ms or 72 s; "-" if not finite.
inline std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const char* unit = "us";
  double number = 1e6 * seconds;
  for (const char* next : {"ms", "s"}) {
    if (number < 999.5) break;
    unit = next, number /= 1000;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", number < 9.95 ? 1 : 0, number, unit);
  return text.data();
}

}  // namespace eckart::text
