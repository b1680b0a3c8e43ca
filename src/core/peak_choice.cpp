#include "core/peak_choice.hpp"

#include <optional>
#include <stdexcept>

#include "core/positive_number.hpp"

namespace eckart {

PeakChoice parse_peak(std::string_view text) {
  for (const PeakSource source : {PeakSource::automatic, PeakSource::dtype, PeakSource::range}) {
    if (text == to_string(source)) return {source};
  }
  const std::optional<double> number = parse_positive_number(text);
  if (!number)
    throw std::invalid_argument("peak '" + std::string(text) +
                                "': expected auto, dtype, range or a positive number");
  return {PeakSource::number, *number};
}

std::string to_string(const PeakChoice& choice) {
  return choice.source == PeakSource::number ? shortest_text(choice.number)
                                             : to_string(choice.source);
}

}  // namespace eckart
