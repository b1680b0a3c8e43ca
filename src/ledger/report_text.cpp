#include "ledger/report_text.hpp"

#include <cstddef>

namespace eckart::ledger {
namespace {

/// Returns where the string that begins at `begin` ends; npos if it does not.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

/// Returns the end of the value that begins at `begin`: a comma or a bracket that is not within it,
/// or the end of the text. Returns npos if a string does not end.
std::size_t end_of_value(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size();) {
    const char letter = text[i];
    if (letter == '"') {
      i = end_of_string(text, i);
      continue;
    }
    if (letter == '[' || letter == '{') ++depth;
    if (depth == 0 && (letter == ',' || letter == ']' || letter == '}')) return i;
    if (letter == ']' || letter == '}') --depth;
    ++i;
  }
  return begin <= text.size() && depth == 0 ? text.size() : std::string_view::npos;
}

bool is_string_at(std::string_view text, std::size_t position) {
  return position < text.size() && text[position] == '"';
}

bool has_at(std::string_view text, std::size_t position, char letter) {
  return position < text.size() && text[position] == letter;
}

}  // namespace

std::optional<SplitReport> split_report(std::string_view report) {
  SplitReport split;
  split.keys.reserve(report.size());
  split.values.reserve(report.size());
  std::size_t at = 0;
  for (char before = '{'; has_at(report, at, before); before = ',') {
    const std::size_t key = at + 1;
    if (!is_string_at(report, key)) return std::nullopt;
    const std::size_t colon = end_of_string(report, key);
    if (!has_at(report, colon, ':')) return std::nullopt;
    at = end_of_value(report, colon + 1);
    if (at == std::string_view::npos) return std::nullopt;
    if (before == ',') {
      split.keys += ',';
      split.values += ',';
    }
    split.keys += report.substr(key, colon - key);
    split.values += report.substr(colon + 1, at - colon - 1);
  }
  if (!has_at(report, at, '}') || at + 1 != report.size()) return std::nullopt;
  return split;
}

std::optional<std::string> join_report(std::string_view keys, std::string_view values) {
  std::string report;
  report.reserve(keys.size() + values.size() + 64);
  std::size_t key = 0, value = 0;
  for (char before = '{';; before = ',') {
    if (!is_string_at(keys, key)) return std::nullopt;
    const std::size_t key_end = end_of_string(keys, key);
    const std::size_t value_end = end_of_value(values, value);
    if (key_end == std::string_view::npos || value_end == std::string_view::npos)
      return std::nullopt;
    report += before;
    report += keys.substr(key, key_end - key);
    report += ':';
    report += values.substr(value, value_end - value);
    if (key_end == keys.size() && value_end == values.size()) return report += '}';
    if (!has_at(keys, key_end, ',') || !has_at(values, value_end, ',')) return std::nullopt;
    key = key_end + 1, value = value_end + 1;
  }
}

}  // namespace eckart::ledger
