// A report as JSON; docs/reference/bench.md describes the keys.
#include "bench/report/table.hpp"

namespace eckart::bench {
namespace {

using text::Json;

Json cell_json(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<int>(&cell)) return *count;
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
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& key = table.columns[i].key;
      row[key] = cell_json(cells[i]);
      if (const auto* not_measured = std::get_if<NotMeasured>(&cells[i]))
        row["not_measured"][key] = not_measured->reason;
    }
    rows.push_back(std::move(row));
  }
  return {{"name", table.name}, {"title", table.title}, {"columns", columns},
          {"rows", rows},       {"notes", table.notes}, {"lesson", table.lesson}};
}

}  // namespace

Json to_json(const Report& report) {
  Json tables = Json::array();
  for (const Table& table : report.tables) tables.push_back(table_json(table));
  const MeasuredGpu gpu = report.gpu.value_or(MeasuredGpu{});
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  const auto mhz_or_null = [](int mhz) { return mhz > 0 ? Json(mhz) : Json(); };
  return {{"kind", "bench"},
          {"experiment", report.experiment},
          {"time", report.time},
          {"version", report.version},
          {"build_id", report.build_id},
          {"cpu", report.cpu},
          {"cores", report.cores},
          {"gpu", text_or_null(gpu.name)},
          {"no_gpu_reason", text_or_null(report.no_gpu_reason)},
          {"peers", report.peers},
          {"driver", text_or_null(gpu.driver)},
          {"gpu_min_mhz", mhz_or_null(gpu.min_mhz)},
          {"gpu_max_mhz", mhz_or_null(gpu.max_mhz)},
          {"gpu_throttled", gpu.throttled},
          {"warnings", report.warnings},
          {"tables", tables}};
}

}  // namespace eckart::bench
