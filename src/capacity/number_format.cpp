#include "capacity/number_format.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "text/group_digits.hpp"

namespace eckart::capacity {

std::string format_number(double value) {
  if (!std::isfinite(value)) return "unbounded";
  const double size = std::abs(value);
  if (size >= 1e15) return value > 0 ? "more than 1e15" : "less than -1e15";
  if (size >= 99.95) return text::group_digits(std::llround(value));
  if (size < 1e-6) return "0";
  const int decimals = size >= 9.995    ? 1
                       : size >= 0.9995 ? 2
                                        : int(std::ceil(-std::log10(size))) + 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_axis_label(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  return value >= 1e4 ? fmt::format("{:g}k", value / 1e3) : fmt::format("{:g}", value);
}

std::string format_percent(double share) {
  const double percents = 100 * share;
  const double size = std::abs(percents);
  return fmt::format("{:.{}f} %", percents, size >= 9.95 || size == 0 ? 0 : size >= 0.095 ? 1 : 2);
}

std::string format_percent_range(const Estimate& shares) {
  const std::string low = format_percent(std::max(0.0, shares.low));
  return fmt::format("{} to {}", low.substr(0, low.size() - 2),
                     format_percent(std::max(0.0, shares.high)));
}

std::string format_range(const Estimate& interval) {
  return fmt::format("{} to {}", format_number(interval.low), format_number(interval.high));
}

std::string format_duration(double seconds) {
  if (seconds < 59.95) return fmt::format("{} s", format_number(seconds));
  if (seconds > 14 * 86400.0) return fmt::format("{} days", format_number(seconds / 86400));
  const auto s = std::int64_t(std::llround(seconds));
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {} h", s / 86400, s / 3600 % 24);
}

std::string format_count(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", text::group_digits(count), noun, count == 1 ? "" : "s");
}

std::string resource_phrase(Resource resource) {
  std::string name(to_string(resource));
  switch (resource) {
    case Resource::cores:
      return name;
    case Resource::gpu:
    case Resource::disk:
      return "the " + name;
    case Resource::source:
    case Resource::batch:
      return "the " + name + " thread";
    case Resource::load:
    case Resource::write:
      return name + " threads";
    case Resource::compute:
      return "compute lanes";
  }
  return name;
}

}  // namespace eckart::capacity
