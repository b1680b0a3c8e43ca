#include "bench/pipeline_result.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "core/outcome.hpp"

namespace eckart::bench {
namespace {

bool belongs_to(const PipelineRow& row, const std::string& durability) {
  return row.durability.empty() || row.durability == durability;
}

/// The spread of value(round).
template <class Round, class Value>
Spread spread_of(const std::vector<Round>& rounds, Value&& value) {
  std::vector<double> values;
  values.reserve(rounds.size());
  for (const Round& round : rounds) values.push_back(value(round));
  return spread(std::move(values));
}

/// Whether the row is a part, or a stage without parts.
bool is_smallest(const std::vector<PipelineRow>& rows, const PipelineRow& row) {
  return !row.part_of.empty() || std::ranges::none_of(rows, [&](const PipelineRow& other) {
    return other.part_of == row.name && other.is_measured();
  });
}

}  // namespace

Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
  return {.median = median, .min = values.front(), .max = values.back()};
}

Spread spread(const std::vector<WholeRun>& rounds, double WholeRun::*value) {
  return spread_of(rounds, [&](const WholeRun& round) { return round.*value; });
}

Spread PipelineRow::per_s() const {
  return spread_of(rounds, [](const Rate& round) { return round.per_s(); });
}

double PipelineRow::cpu_us_per_image() const {
  return spread_of(rounds, [](const Rate& round) { return round.cpu_us_each(); }).median;
}

void PipelineResult::keep_rounds(int count) {
  const auto keep = [&](auto& rounds) {
    if (rounds.size() > std::size_t(count)) rounds.resize(std::size_t(count));
  };
  for (Whole& each : whole) keep(each.rounds);
  for (PipelineRow& row : stages) keep(row.rounds);
  for (PipelineRow& row : file_system) keep(row.rounds);
}

void PipelineResult::place_parts_after_stages() {
  std::vector<PipelineRow> ordered;
  for (int i = 0; i < kStageCount; ++i) {
    const std::string_view stage = to_string(Stage(i));
    std::ranges::copy_if(stages, std::back_inserter(ordered), [&](const PipelineRow& row) {
      return row.part_of.empty() && row.name == stage;
    });
    std::ranges::copy_if(stages, std::back_inserter(ordered),
                         [&](const PipelineRow& row) { return row.part_of == stage; });
  }
  stages = std::move(ordered);
}

PipelineLimits PipelineResult::limits(std::size_t index) const {
  const Whole& runs = whole.at(index);
  PipelineLimits limits{.durability = runs.durability,
                        .whole_per_s = spread(runs.rounds, &WholeRun::images_per_s).median};
  limits.slowest_stage_per_s = limits.cores_per_s = std::numeric_limits<double>::infinity();
  double cpu_us = 0;
  for (const PipelineRow& row : stages) {
    if (!row.part_of.empty() || !row.is_measured() || !belongs_to(row, runs.durability)) continue;
    cpu_us += row.cpu_us_per_image();
    if (const double per_s = row.per_s().median; per_s < limits.slowest_stage_per_s) {
      limits.slowest_stage = &row;
      limits.slowest_stage_per_s = per_s;
    }
  }
  if (cpu_us <= 0) return limits;
  limits.cores_per_s = 1e6 * cores / cpu_us;
  for (const PipelineRow& row : stages) {
    if (!row.is_measured() || !belongs_to(row, runs.durability) || !is_smallest(stages, row))
      continue;
    const double share = row.cpu_us_per_image() / cpu_us;
    if (share <= limits.largest_part_share) continue;
    limits.largest_part = &row;
    limits.largest_part_share = share;
  }
  for (const PipelineRow& row : file_system) {
    if (row.name == kReadAndWrite && row.durability == runs.durability)
      limits.file_system_per_s = row.per_s().median;
  }
  return limits;
}

}  // namespace eckart::bench
