#pragma once

#include <ctime>
#include <string>

namespace eckart::capacity {

inline constexpr double kDaySeconds = 86400;
inline constexpr double kYearSeconds = 365.25 * kDaySeconds;
inline constexpr double kMonthSeconds = kYearSeconds / 12;

/// A number of images in a period, such as 50M/month.
struct TargetRate {
  double images = 0, period_s = 1;
  std::string phrase = {};  ///< "50M a month"

  double per_s() const { return images / period_s; }
};

struct ImageCount {
  double images = 0;
  std::string phrase = {};  ///< "500k images"
};

struct Deadline {
  double seconds = 0;
  std::string phrase = {};  ///< "in 4 weeks", "by 2026-12-31"
};

/// What a core-hour, a GPU-hour and a kilowatt-hour cost. Without a currency.
struct Prices {
  double core_h = 0, gpu_h = 0, kwh = 0;
};

/// Each function throws std::invalid_argument with the accepted formats if `text` is invalid.
TargetRate parse_rate(const std::string& text);   ///< 50M/month, 1,700,000/day, 30k/h, 250/s
ImageCount parse_count(const std::string& text);  ///< 500k, 2M, 1,700,000
/// Reads a duration (4w, 6h, 90min, 2d) or a date. A date means until the end of that day in local
/// time, counted from `now`.
Deadline parse_deadline(const std::string& text, std::time_t now);
double parse_shift(const std::string& text);   ///< 8h: seconds of a day, at most a day
Prices parse_prices(const std::string& text);  ///< core=0.04/h,gpu=3.50/h,kWh=0.30

}  // namespace eckart::capacity
