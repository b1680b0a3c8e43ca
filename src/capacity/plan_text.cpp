#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan.hpp"
#include "capacity/plan_answer.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "capacity/plan_tables.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

constexpr std::size_t kColumns = 80;

/// The number of characters, where each code point counts as one.
std::size_t width(std::string_view text) {
  return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Breaks `text` at spaces. The first line begins with `first`, the others with spaces instead. A
/// number stays with its % sign.
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

std::string text_list(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = "\n" + title + "\n";
  for (const std::string& sentence : sentences) text += wrap("  - ", sentence);
  return text;
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

/// `title` is below the answer, and may be empty.
std::string titled_text(const std::string& title, const Plan& plan) {
  std::string text = wrap("", answer(plan).text);
  if (!title.empty()) text += wrap("", title);
  text += text_list("Why", reasons(plan));
  text += text_table(options_table(plan));
  text += text_list("Caveats", caveats(plan));
  text += text_table(rates_table(plan));
  text += text_table(busy_table(plan));
  text += text_table(nodes_table(plan));
  if (plan.concurrent_runs) text += wrap("  ", concurrent_runs_sentence(plan));
  text += "\nBased on\n";
  for (const BasisLine& line : basis(plan))
    text += wrap(fmt::format("  {:<9}", line.label), line.text);
  return text;
}

}  // namespace

std::string to_text(const Plan& plan) { return titled_text("", plan); }

std::string to_text(const std::vector<Plan>& plans) {
  if (plans.size() == 1) return to_text(plans.front());
  std::string text;
  for (std::size_t i = 0; i < plans.size(); ++i)
    text += (i > 0 ? "\n\n" : "") + titled_text(plan_title(plans, i), plans[i]);
  return text;
}

}  // namespace eckart::capacity
