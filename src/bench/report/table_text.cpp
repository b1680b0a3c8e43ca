// A report for a terminal.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "bench/report/table.hpp"

namespace eckart::bench {
namespace {

/// The number of characters of UTF-8 text.
std::size_t width(const std::string& text) {
  return std::size_t(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string pad(const std::string& text, std::size_t columns, bool on_left) {
  const std::string spaces(columns - std::min(columns, width(text)), ' ');
  return on_left ? spaces + text : text + spaces;
}

using Line = std::vector<std::string>;

/// Lines of the table: the heads, the units, and the rows.
std::vector<Line> lines_of(const Table& table) {
  std::vector<Line> lines(2);
  for (const Column& column : table.columns) {
    auto [head, unit] = head_and_unit(column);
    lines[0].push_back(std::move(head));
    lines[1].push_back(std::move(unit));
  }
  for (const std::vector<Cell>& row : table.rows) {
    Line& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) line.push_back(to_text(row[i], table.columns[i]));
  }
  return lines;
}

/// Whether a column has words, which are aligned on the left.
bool is_text(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "- " + note + "\n";
  return text;
}

std::string table_text(const Table& table, const std::vector<std::string>& common) {
  const std::vector<Line> lines = lines_of(table);
  std::vector<std::size_t> widths(table.columns.size());
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string text = "\n" + table.title + "\n\n";
  const bool has_units =
      std::ranges::any_of(lines[1], [](const auto& unit) { return !unit.empty(); });
  for (std::size_t l = 0; l < lines.size(); ++l) {
    if (l == 1 && !has_units) continue;
    if (l > 2 && lines[l][0] != lines[l - 1][0]) text += "\n";
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i)
      line += pad(lines[l][i], widths[i], !is_text(table, i)) + "  ";
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  if (const std::string notes = notes_text(own_notes(table, common)); !notes.empty())
    text += "\n" + notes;
  return table.lesson.empty() ? text : text + "\n" + table.lesson + "\n";
}

}  // namespace

std::string to_text(const Report& report) {
  std::string text;
  for (const auto& [name, value] : machine_lines(report))
    text += fmt::format("{:<10} {}\n", name, value);
  for (const std::string& warning : report.warnings) text += "warning: " + warning + "\n";
  const std::vector<std::string> common = common_notes(report);
  for (const Table& table : report.tables) text += table_text(table, common);
  return common.empty() ? text : text + "\nNotes on several tables\n\n" + notes_text(common);
}

}  // namespace eckart::bench
