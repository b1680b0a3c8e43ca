#include "capacity/number_format.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::capacity {

std::string format_percent(double share) {
  const double percents = 100 * share;
  const double size = std::abs(percents);
  return fmt::format("{:.{}f} %", percents, size >= 9.95 || size == 0 ? 0 : size >= 0.095 ? 1 : 2);
}

std::string format_percent_range(const Estimate& shares) {
  const std::string low = format_percent(std::max(0.0, shares.low));
  return fmt::format("{}–{}", low.substr(0, low.size() - 2),
                     format_percent(std::max(0.0, shares.high)));
}

std::string format_range(const Estimate& interval) {
  return fmt::format("{}–{}", text::format_number(interval.low),
                     text::format_number(interval.high));
}

}  // namespace eckart::capacity
