#include "text/format_duration.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace eckart::text {
namespace {

constexpr std::int64_t kMinute = 60, kHour = 3600, kDay = 86400;

std::string two_units(std::int64_t large, const char* large_unit, std::int64_t small,
                      const char* small_unit) {
  return std::to_string(large) + large_unit + std::to_string(small) + small_unit;
}

/// Below a minute.
std::string format_short_duration(double seconds) {
  const char* unit = " ns";
  double number = 1e9 * seconds;
  for (const char* next : {" us", " ms", " s"}) {
    if (number < 999.5) break;
    unit = next;
    number /= 1000;
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.*f", number < 9.995 ? 2 : number < 99.95 ? 1 : 0, number);
  return std::string(digits) + unit;
}

}  // namespace

std::string format_duration(double seconds) {
  constexpr double kMaxSeconds = 1e15;
  if (!(seconds >= 0) || !std::isfinite(seconds)) return "-";
  if (seconds == 0) return "0 s";
  if (seconds < 59.95) return format_short_duration(seconds);
  if (seconds > kMaxSeconds) return "more than 10,000,000,000 days";
  const auto s = std::int64_t(std::llround(seconds));
  if (s < kHour) return two_units(s / kMinute, " min ", s % kMinute, " s");
  if (s < kDay) return two_units(s / kHour, " h ", s / kMinute % kMinute, " min");
  if (s <= 14 * kDay) return two_units(s / kDay, " d ", s / kHour % 24, " h");
  return std::to_string(s / kDay) + " days";
}

}  // namespace eckart::text
