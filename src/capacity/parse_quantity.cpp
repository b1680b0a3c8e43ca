#include "capacity/parse_quantity.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace eckart::capacity {
namespace {

/// Splits a number above 0 from the unit that follows it.
std::optional<std::pair<double, std::string_view>> split_unit(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc{} || !(number > 0) || !std::isfinite(number)) return std::nullopt;
  return std::pair{number, std::string_view(rest, std::size_t(end - rest))};
}

std::optional<double> parse_scaled_number(std::string_view text) {
  const auto parts = split_unit(text);
  if (!parts) return std::nullopt;
  const auto& [number, unit] = *parts;
  if (unit.empty()) return number;
  if (unit == "k" || unit == "K") return 1e3 * number;
  if (unit == "M") return 1e6 * number;
  if (unit == "G") return 1e9 * number;
  return std::nullopt;
}

std::optional<double> unit_seconds(std::string_view unit) {
  if (unit == "s" || unit == "sec" || unit == "second") return 1;
  if (unit == "min" || unit == "minute") return 60;
  if (unit == "h" || unit == "hour") return 3600;
  if (unit == "d" || unit == "day") return 86400;
  if (unit == "week") return 7 * 86400;
  if (unit == "year") return 365.25 * 86400;
  return std::nullopt;
}

}  // namespace

double parse_rate(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != text.npos) {
    const auto count = parse_scaled_number(std::string_view(text).substr(0, slash));
    const auto seconds = unit_seconds(std::string_view(text).substr(slash + 1));
    if (count && seconds) return *count / *seconds;
  }
  throw std::invalid_argument(
      "'" + text +
      "' is not a rate: expected images per unit of time, such as 2M/day, 30k/h, 500/min or 250/s");
}

double parse_count(const std::string& text) {
  if (const auto count = parse_scaled_number(text)) return *count;
  throw std::invalid_argument(
      "'" + text +
      "' is not a number of images: expected a positive number, such as 1234, 500k or 2M");
}

double parse_duration(const std::string& text) {
  if (const auto parts = split_unit(text)) {
    if (const auto seconds = unit_seconds(parts->second)) return parts->first * *seconds;
  }
  throw std::invalid_argument(
      "'" + text +
      "' is not a duration: expected a number and a unit, such as 6h, 90min, 30s or 2d");
}

}  // namespace eckart::capacity
