#include "core/positive_number.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace eckart {

std::optional<double> parse_positive_number(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool is_valid = error == std::errc{} && rest == end && std::isfinite(number) && number > 0;
  return is_valid ? std::optional(number) : std::nullopt;
}

std::string shortest_text(double number) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end};
}

}  // namespace eckart
