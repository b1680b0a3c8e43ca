// The result of `eckart bench pipeline` as a table for a report with other experiments.
#include <spdlog/fmt/fmt.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/pipeline_result.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::bench {
namespace {

std::vector<Cell> cells_of(const PipelineRow& row, const std::string& group) {
  std::vector<double> rates;
  for (const Rate& round : row.rounds) rates.push_back(round.per_s());
  std::string name = row.part_of.empty() ? row.name : row.part_of + ": " + row.name;
  if (!row.durability.empty()) name += ", durability " + row.durability;
  std::vector<Cell> cells = {group, std::move(name), row.threads};
  if (row.worker == Worker::gpu) {
    cells.emplace_back("on the GPU, in compute");
  } else if (row.is_measured()) {
    cells.emplace_back(estimate(rates));
    cells.emplace_back(row.cpu_us_per_image());
  }
  cells.resize(5);
  return cells;
}

std::vector<Cell> cells_of(const PipelineResult::Whole& whole, bool with_start) {
  std::vector<double> rates;
  for (const WholeRun& run : whole.rounds)
    rates.push_back(with_start ? run.images_per_s_with_start : run.images_per_s);
  std::vector<Cell> cells = {"all at once", "whole run, durability " + whole.durability, Cell(),
                             estimate(rates),
                             spread(whole.rounds, &WholeRun::cpu_us_per_image).median};
  if (with_start) {
    std::get<std::string>(cells[1]) += ", with its start";
    cells[4] = {};
  }
  return cells;
}

}  // namespace

Table to_table(const PipelineResult& result) {
  Table table{.name = "pipeline",
              .title = "Stages of a run, alone and together",
              .columns = {{"group", "", ""},
                          {"work", "work", ""},
                          {"threads", "threads", ""},
                          {"images_per_s", "rate", "images/s", true},
                          {"cpu_us_per_image", "CPU time", "us/image"}},
              .rows = {}};
  for (const PipelineRow& row : result.stages) table.add_row(cells_of(row, "each stage alone"));
  for (const PipelineResult::Whole& whole : result.whole) {
    if (whole.rounds.empty()) continue;
    for (const bool with_start : {false, true}) table.add_row(cells_of(whole, with_start));
  }
  for (const PipelineRow& row : result.file_system)
    table.add_row(cells_of(row, "file system, without other work"));
  table.notes = {fmt::format(
      "{}, {}; {}, {} KB read and {} KB written per image. All rows were measured in each of {} "
      "rounds; ± is their range.",
      result.backend, text::format_count(result.cores, "core"),
      text::format_count(result.files, "different file"),
      text::format_number(result.image.input_bytes / 1000),
      text::format_number(result.image.output_bytes / 1000), result.rounds())};
  table.lesson = conclusion(result);
  return table;
}

}  // namespace eckart::bench
