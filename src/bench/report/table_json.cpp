// A report as JSON; docs/reference/bench.md describes the keys.
#include "bench/report/table.hpp"

namespace eckart::bench {
namespace {

using text::Json;

Json cell_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return text::finite_or_null(*number);
  if (const auto* measured = std::get_if<Estimate>(&cell))
    return {{"median", text::finite_or_null(measured->median)},
            {"low", text::finite_or_null(measured->low)},
            {"high", text::finite_or_null(measured->high)},
            {"samples", measured->samples}};
  return {};
}

Json table_json(const Table& table) {
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns)
    columns.push_back({{"key", column.key}, {"head", column.head}, {"unit", column.unit}});
  for (const std::vector<Cell>& cells : table.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < cells.size(); ++i) row[table.columns[i].key] = cell_json(cells[i]);
    rows.push_back(std::move(row));
  }
  return {{"name", table.name}, {"title", table.title}, {"columns", columns},
          {"rows", rows},       {"notes", table.notes}, {"lesson", table.lesson}};
}

}  // namespace

Json to_json(const Report& report) {
  Json json = Json::object(), tables = Json::array();
  for (const auto& [name, value] : report.machine) json[name] = value;
  for (const Table& table : report.tables) tables.push_back(table_json(table));
  json["warnings"] = report.warnings;
  json["tables"] = std::move(tables);
  return json;
}

}  // namespace eckart::bench
