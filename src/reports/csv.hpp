#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eckart::reports {

/// The values as a row of a CSV table (RFC 4180), with a newline at its end: a value with a comma,
/// a quote or a line break is quoted.
std::string csv_row(const std::vector<std::string>& values);

/// The values of a row without its newline.
std::vector<std::string> csv_values(std::string_view row);

/// Whether the text ends outside of quotes, so that a line break after it ends the row.
bool is_complete_csv_row(std::string_view text);

}  // namespace eckart::reports
