// A report as a page.
#include <spdlog/fmt/fmt.h>

#include "bench/report/table.hpp"
#include "html/page.hpp"

namespace eckart::bench {
namespace {

std::string cell_html(const Cell& cell, const Column& column) {
  const std::string text = to_text(cell, column);
  if (const auto* count = std::get_if<int>(&cell)) return html::data_element(*count, text);
  if (const auto* number = std::get_if<double>(&cell)) return html::data_element(*number, text);
  if (const auto* measured = std::get_if<Estimate>(&cell))
    return fmt::format("<data value='{}' title='{} to {}, {} samples'>{}</data>", measured->median,
                       to_text(measured->low, column), to_text(measured->high, column),
                       measured->samples, html::escape(text));
  return html::escape(text);
}

std::string notes_html(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string list = "<ul>\n";
  for (const std::string& note : notes) list += fmt::format("<li>{}</li>\n", html::escape(note));
  return list + "</ul>\n";
}

/// A section: heading, lesson, plots, table and notes.
std::string table_html(const Table& table, const std::vector<std::string>& common) {
  std::vector<std::string> heads;
  for (const Column& column : table.columns) {
    const auto [head, unit] = head_and_unit(column);
    heads.push_back(unit.empty() ? head : head + ", " + unit);
  }
  std::string rows;
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(cell_html(row[i], table.columns[i]));
    rows += html::row(cells, heads);
  }
  const bool has_names =
      !table.rows.empty() && std::holds_alternative<std::string>(table.rows.front().at(1));
  std::string section =
      fmt::format("<section class='measured{}' id='{}'>\n<h2>{}</h2>\n", has_names ? " named" : "",
                  table.name, html::escape(table.title));
  if (!table.lesson.empty()) section += fmt::format("<p>{}</p>\n", html::escape(table.lesson));
  if (!table.plots.empty()) section += "<div class='plots'>\n";
  for (const html::Plot& plot : table.plots) section += html::to_svg(plot);
  if (!table.plots.empty()) section += "</div>\n";
  return section + html::table("", heads, rows, html::OnPhone::table) +
         notes_html(own_notes(table, common)) + "</section>\n";
}

/// Links to the sections, if there are several.
std::string contents_html(const std::vector<Table>& tables) {
  if (tables.size() < 2) return {};
  std::string list = "<nav><ul>\n";
  for (const Table& table : tables)
    list += fmt::format("<li><a href='#{}'>{}</a></li>\n", table.name, html::escape(table.title));
  return list + "</ul></nav>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  std::string body = "<dl>\n";
  for (const auto& [name, value] : machine_lines(report))
    body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html::escape(name), html::escape(value));
  body += "</dl>\n";
  for (const std::string& warning : report.warnings)
    body += fmt::format("<p class='warning'>{}</p>\n", html::escape(warning));
  body += contents_html(report.tables);
  const std::vector<std::string> common = common_notes(report);
  for (const Table& table : report.tables) body += table_html(table, common);
  if (!common.empty()) body += "<h2>Notes on several tables</h2>\n" + notes_html(common);
  return html::page("eckart bench " + report.experiment, body);
}

}  // namespace eckart::bench
