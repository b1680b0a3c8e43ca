#include "reports/csv.hpp"

#include <algorithm>

namespace eckart::reports {

std::string csv_row(const std::vector<std::string>& values) {
  std::string row;
  for (const std::string& value : values) {
    if (!row.empty() || &value != &values.front()) row += ',';
    if (value.find_first_of(",\"\r\n") == value.npos) {
      row += value;
      continue;
    }
    row += '"';
    for (const char c : value) row.append(c == '"' ? 2 : 1, c);
    row += '"';
  }
  return row + '\n';
}

std::vector<std::string> csv_values(std::string_view row) {
  std::vector<std::string> values(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '"') {
      const bool is_doubled = is_quoted && i + 1 < row.size() && row[i + 1] == '"';
      if (is_doubled) {
        values.back() += c;
        ++i;
      } else {
        is_quoted = !is_quoted;
      }
    } else if (c == ',' && !is_quoted) {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  return values;
}

bool is_complete_csv_row(std::string_view text) { return std::ranges::count(text, '"') % 2 == 0; }

}  // namespace eckart::reports
