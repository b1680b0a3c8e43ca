#include "capacity/text_layout.hpp"

#include <algorithm>
#include <string_view>

namespace eckart::capacity {
namespace {

constexpr std::size_t kColumns = 80;

/// The number of characters, where each code point counts as one.
std::size_t width(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string wrap(const std::string& first, const std::string& text) {
  const std::string indent(width(first), ' ');
  std::string lines, line = first;
  bool is_empty = true;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.size(), text.find(' ', begin));
    if (text.compare(end, 2, " %") == 0) end = std::min(text.size(), text.find(' ', end + 1));
    const std::string word = text.substr(begin, end - begin);
    if (!is_empty && width(line) + 1 + width(word) > kColumns) {
      lines += line + "\n";
      line = indent;
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + word;
    is_empty = false;
    begin = end + 1;
  }
  return lines + line + "\n";
}

std::string text_table(const Table& table) {
  if (table.rows.empty()) return {};
  std::vector<std::size_t> widths;
  for (const std::string& head : table.heads) widths.push_back(width(head));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i].text));
  }
  const auto line = [&](const auto& text_of) {
    std::string text = " ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = text_of(i);
      const std::string space(widths[i] - width(cell), ' ');
      text += " " + (table.is_left(i) ? cell + space : space + cell) + " ";
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text =
      "\n" + table.title + "\n" + line([&](std::size_t i) { return table.heads[i]; });
  for (const auto& row : table.rows) text += line([&](std::size_t i) { return row[i].text; });
  return text;
}

}  // namespace eckart::capacity
