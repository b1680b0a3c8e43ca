#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace eckart {

/// Checks the pattern of an output's name: a file's name, with the fields {stem}, {name}, {ext} and
/// {rank}. Throws std::invalid_argument, with the pattern in it.
void validate_output_name(std::string_view pattern);

/// Puts what `value_of` gives for a field's name in the place of each {field}. Throws
/// std::invalid_argument for a '{' without its '}'.
std::string expand_output_name(std::string_view pattern,
                               const std::function<std::string(std::string_view field)>& value_of);

}  // namespace eckart
