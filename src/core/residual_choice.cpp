#include "core/residual_choice.hpp"

#include <optional>
#include <stdexcept>

#include "core/positive_number.hpp"

namespace eckart {

ResidualChoice parse_residual(std::string_view text) {
  for (const ResidualGain gain : {ResidualGain::none, ResidualGain::automatic}) {
    if (text == to_string(gain)) return {gain};
  }
  const std::optional<double> number = parse_positive_number(text);
  if (!number)
    throw std::invalid_argument("residual '" + std::string(text) +
                                "': expected none, auto or a positive number");
  return {ResidualGain::number, *number};
}

std::string to_string(const ResidualChoice& choice) {
  return choice.gain == ResidualGain::number ? shortest_text(choice.number)
                                             : to_string(choice.gain);
}

}  // namespace eckart
