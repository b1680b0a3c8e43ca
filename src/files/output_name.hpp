#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace eckart::files {

/// Checks a pattern of output names: a file name with the fields {stem}, {name}, {ext}, {rank}
/// and {label}.
/// Throws std::invalid_argument with the pattern in its message.
void validate_output_name(std::string_view pattern);

/// Replaces each {field} by value_of(field). Throws std::invalid_argument if a brace is not closed.
std::string expand_output_name(std::string_view pattern,
                               const std::function<std::string(std::string_view field)>& value_of);

}  // namespace eckart::files
