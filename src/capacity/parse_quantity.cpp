#include "capacity/parse_quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "text/ascii.hpp"

namespace eckart::capacity {
namespace {

struct Unit {
  double seconds;
  const char* name;    // after a number
  const char* period;  // of a rate
  bool has_plural;     // false: `name` is a symbol
  std::array<std::string_view, 4> names;
};
constexpr std::array<Unit, 7> kUnits = {{
    {1, "s", "a second", false, {"s", "sec", "second", "seconds"}},
    {60, "min", "a minute", false, {"min", "minute", "minutes", "minute"}},
    {3600, "h", "an hour", false, {"h", "hour", "hours", "hr"}},
    {kDaySeconds, "day", "a day", true, {"d", "day", "days", "day"}},
    {7 * kDaySeconds, "week", "a week", true, {"w", "week", "weeks", "week"}},
    {kMonthSeconds, "month", "a month", true, {"month", "months", "mo", "month"}},
    {kYearSeconds, "year", "a year", true, {"y", "year", "years", "yr"}},
}};

[[noreturn]] void reject(const std::string& text, const char* what, const char* accepted) {
  throw std::invalid_argument("'" + text + "' is not " + what + ". Accepted: " + accepted);
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// Removes the commas of 1,700,000. Returns nullopt if they do not separate groups of three digits.
std::optional<std::string> remove_group_commas(std::string_view number) {
  const std::size_t first = number.find(',');
  if (first == number.npos) return std::string(number);
  const std::size_t end = std::min(number.size(), number.find('.'));
  if (first == 0 || first > 3 || (end - first) % 4 != 0) return std::nullopt;
  std::string digits(number.substr(0, first));
  for (std::size_t at = first; at < end; at += 4) {
    const std::string_view group = number.substr(at + 1, 3);
    if (number[at] != ',' || group.find(',') != group.npos) return std::nullopt;
    digits += group;
  }
  return digits.append(number.substr(end));
}

/// Splits a number above 0 from the text that follows it.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
  const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789.,"));
  const std::optional<std::string> digits = remove_group_commas(text.substr(0, end));
  if (!digits) return std::nullopt;
  double number = 0;
  const char* const last = digits->data() + digits->size();
  const auto [rest, error] =
      std::from_chars(digits->data(), last, number, std::chars_format::fixed);
  if (error != std::errc{} || rest != last || !(number > 0) || !std::isfinite(number))
    return std::nullopt;
  return std::pair{number, text.substr(end)};
}

std::optional<double> parse_scaled_number(std::string_view text) {
  const auto parts = split_number(text);
  if (!parts) return std::nullopt;
  const auto& [number, unit] = *parts;
  if (unit.empty()) return number;
  if (unit == "k" || unit == "K") return 1e3 * number;
  if (unit == "M") return 1e6 * number;
  if (unit == "G" || unit == "B") return 1e9 * number;
  return std::nullopt;
}

const Unit* find_unit(std::string_view name) {
  const std::string lower = text::to_lower_ascii(std::string(name));
  for (const Unit& unit : kUnits) {
    if (std::ranges::count(unit.names, lower) > 0) return &unit;
  }
  return nullptr;
}

/// Returns the end of the day YYYY-MM-DD in local time.
std::optional<std::time_t> end_of_day(const std::string& text) {
  std::tm day = {};
  const char* const rest = ::strptime(text.c_str(), "%Y-%m-%d", &day);
  if (!rest || *rest != '\0' || text.size() != 10) return std::nullopt;
  const int month = day.tm_mon, date = day.tm_mday++;
  day.tm_isdst = -1;
  const std::time_t end = std::mktime(&day);
  std::tm before = {};
  const std::time_t last_second = end - 1;
  if (!::localtime_r(&last_second, &before)) return std::nullopt;
  if (before.tm_mon != month || before.tm_mday != date) return std::nullopt;  // 2026-02-30
  return end;
}

}  // namespace

TargetRate parse_rate(const std::string& text) {
  const std::string rate = without_spaces(text);
  const std::size_t slash = rate.find('/');
  if (slash != rate.npos) {
    const auto count = parse_scaled_number(std::string_view(rate).substr(0, slash));
    const Unit* const unit = find_unit(std::string_view(rate).substr(slash + 1));
    if (count && unit) return {*count, unit->seconds, rate.substr(0, slash) + " " + unit->period};
  }
  reject(text, "a rate",
         "images per s, min, h, day, week, month or year, such as 50M/month, 1,700,000/day, 30k/h "
         "or 250/s");
}

ImageCount parse_count(const std::string& text) {
  const std::string number = without_spaces(text);
  if (const auto count = parse_scaled_number(number))
    return {*count, number + (*count == 1 ? " image" : " images")};
  reject(text, "a number of images", "a number above 0, such as 1234, 1,700,000, 500k or 2M");
}

Deadline parse_deadline(const std::string& text, std::time_t now) {
  const std::string deadline = without_spaces(text);
  if (const auto end = end_of_day(deadline)) {
    if (*end > now) return {double(*end - now), "by " + deadline};
    throw std::invalid_argument("the deadline " + deadline + " is over. Accepted: today or later");
  }
  const auto parts = split_number(deadline);
  const Unit* const unit = parts ? find_unit(parts->second) : nullptr;
  if (!unit)
    reject(text, "a deadline", "a duration such as 90min, 6h, 2d or 4w, or a date as 2026-12-31");
  const std::string number = deadline.substr(0, deadline.size() - parts->second.size());
  const char* const plural = unit->has_plural && parts->first != 1 ? "s" : "";
  return {parts->first * unit->seconds, "in " + number + " " + unit->name + plural};
}

double parse_shift(const std::string& text) {
  const std::string shift = without_spaces(text);
  const auto parts = split_number(shift);
  const Unit* const unit = parts ? find_unit(parts->second) : nullptr;
  const double seconds = unit ? parts->first * unit->seconds : 0;
  if (!(seconds > 0 && seconds <= kDaySeconds))
    reject(text, "a part of a day", "hours or minutes of a day, such as 8h or 450min");
  return seconds;
}

Prices parse_prices(const std::string& text) {
  constexpr const char* kWhat = "a list of prices";
  constexpr const char* kAccepted =
      "core=PRICE/h, gpu=PRICE/h and kWh=PRICE, each at most once and above 0, separated by "
      "commas, such as core=0.04/h,gpu=3.50/h,kWh=0.30";
  const std::string list = without_spaces(text);
  Prices prices;
  bool is_empty = true;
  for (std::string_view rest = list; !rest.empty(); is_empty = false) {
    const std::size_t comma = std::min(rest.size(), rest.find(','));
    const std::string_view entry = rest.substr(0, comma);
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) reject(text, kWhat, kAccepted);
    const std::string_view name = entry.substr(0, equals);
    const auto price = split_number(entry.substr(equals + 1));
    const bool is_energy = name == "kWh" || name == "kwh";
    if (!price || !(price->second.empty() || (price->second == "/h" && !is_energy)))
      reject(text, kWhat, kAccepted);
    double* const target = is_energy        ? &prices.kwh
                           : name == "core" ? &prices.core_h
                           : name == "gpu"  ? &prices.gpu_h
                                            : nullptr;
    if (!target || *target > 0) reject(text, kWhat, kAccepted);
    *target = price->first;
  }
  if (is_empty) reject(text, kWhat, kAccepted);
  return prices;
}

}  // namespace eckart::capacity
