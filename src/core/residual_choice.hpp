#pragma once

#include <string>
#include <string_view>

#include "core/enum_names.hpp"

namespace eckart {

/// The gain with which residuals are written.
enum class ResidualGain {
  none,       ///< no residuals are written
  automatic,  ///< of each output, the largest power of two that clips no sample
  number,     ///< a given number
};

constexpr auto enum_names(ResidualGain) {
  return std::to_array<EnumName<ResidualGain>>({{ResidualGain::none, "none"},
                                                {ResidualGain::automatic, "auto"},
                                                {ResidualGain::number, "number"}});
}

/// The setting `output.residual`.
struct ResidualChoice {
  ResidualGain gain = ResidualGain::none;
  double number = 0;  ///< > 0; for ResidualGain::number

  bool is_written() const { return gain != ResidualGain::none; }
  friend bool operator==(const ResidualChoice&, const ResidualChoice&) = default;
};

/// Parses `none`, `auto` or a positive number. Throws std::invalid_argument that says what was
/// expected.
ResidualChoice parse_residual(std::string_view text);

/// The text that parse_residual() parses to this choice.
std::string to_string(const ResidualChoice& choice);

}  // namespace eckart
