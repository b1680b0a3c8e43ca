#include "core/peak_choice.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace eckart {

PeakChoice parse_peak(std::string_view text) {
  for (const PeakSource source : {PeakSource::automatic, PeakSource::dtype, PeakSource::range}) {
    if (text == to_string(source)) return {source};
  }
  PeakChoice choice{PeakSource::number};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, choice.number);
  if (error != std::errc{} || rest != end || !std::isfinite(choice.number) || choice.number <= 0)
    throw std::invalid_argument("peak '" + std::string(text) +
                                "': expected auto, dtype, range or a positive number");
  return choice;
}

std::string to_string(const PeakChoice& choice) {
  if (choice.source != PeakSource::number) return to_string(choice.source);
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), choice.number);
  return {text.data(), end};
}

}  // namespace eckart
