#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eckart {

/// Parses a finite number above 0. Returns nullopt for any other text.
std::optional<double> parse_positive_number(std::string_view text);

/// Returns the shortest text that is parsed to this number.
std::string shortest_text(double number);

}  // namespace eckart
