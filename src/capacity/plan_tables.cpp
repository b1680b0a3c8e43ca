#include "capacity/plan_tables.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::capacity {
namespace {

Cell count_cell(int value) { return {text::group_digits(value), double(value)}; }
Cell number_cell(double value) { return {text::format_number(value), value}; }
Cell optional_cell(const std::optional<double>& value) {
  return value ? number_cell(*value) : Cell{};
}
Cell percent_cell(double share) { return {format_percent(share), share}; }

/// A number with "at least" or "at most", as ≥ or ≤.
Cell bounded_cell(double value, bool is_lower, bool is_upper) {
  Cell cell = number_cell(value);
  if (is_lower || is_upper) cell.text.insert(0, is_lower ? "≥ " : "≤ ");
  return cell;
}

std::string meets_text(PlanOption::Meets meets) {
  using Meets = PlanOption::Meets;
  return meets == Meets::yes ? "yes" : meets == Meets::no ? "no" : "not sure";
}

std::string title_of(const char* title, const Plan& plan) {
  return plan.is_recorded() ? std::string(title) + ", not measured here" : title;
}

}  // namespace

Table options_table(const Plan& plan) {
  Table table{
      .title = title_of("Options", plan), .heads = {"option", "images/s"}, .has_name_first = true};
  if (plan.target) table.heads.insert(table.heads.end(), {"enough", "busy"});
  if (plan.request.prices) table.heads.insert(table.heads.end(), {"cost/month", "per million"});
  for (const PlanOption& option : plan.options) {
    const std::string name =
        option.recorded_work.empty() ? option.name : "recorded: " + option.name;
    std::vector<Cell> row = {
        {name},
        bounded_cell(option.rate_per_s.value, option.is_lower_bound, option.is_upper_bound)};
    if (plan.target) {
      row.push_back({meets_text(*option.meets_target)});
      row.push_back(*option.utilization > 1 ? Cell{} : percent_cell(*option.utilization));
    }
    if (plan.request.prices) {
      row.push_back(optional_cell(option.cost_per_month));
      row.push_back(optional_cell(option.cost_per_million_images));
    }
    table.rows.push_back(row);
  }
  return table;
}

Table rates_table(const Plan& plan) {
  Table table{.title = title_of("Rates", plan), .heads = {"cores"}};
  if (plan.gpus > 0) table.heads.emplace_back("GPUs");
  table.heads.insert(table.heads.end(),
                     {"images/s", "95 %", plan.is_recorded() ? "recorded" : "measured"});
  table.has_name_last = !plan.is_recorded();  // the record does not tell the limit
  if (table.has_name_last) table.heads.emplace_back("limit");
  for (const PredictionRow& at : plan.predictions) {
    // The row of this machine has the rate and the limit of the first line.
    const bool is_here = at.cores == plan.cores && at.gpus == plan.gpus &&
                         (plan.is_recorded() || !plan.is_inconclusive());
    const Estimate& rate = is_here ? plan.current_capacity.rate_per_s : at.rate_per_s;
    const bool is_guess = !is_here && at.bottleneck == Resource::disk && plan.is_disk_guess();
    std::vector<Cell> row = {count_cell(at.cores)};
    if (plan.gpus > 0) row.push_back(count_cell(at.gpus));
    row.push_back(number_cell(rate.value));
    row.push_back(is_guess            ? Cell{"about"}
                  : at.is_upper_bound ? Cell{"at most"}
                                      : Cell{format_range(rate), rate.low, rate.high});
    row.push_back(optional_cell(at.measured_per_s));
    if (table.has_name_last)
      row.push_back({limit_phrase(is_here ? plan.current_capacity : at, plan)});
    table.rows.push_back(row);
  }
  return table;
}

Table busy_table(const Plan& plan) {
  Table table{.title = "How busy this machine was",
              .heads = {"part", "number", "busy", "ms/image", "images/s if nothing else limited"},
              .has_name_first = true};
  for (const Bound& bound : plan.bounds) {
    table.rows.push_back({{part_name(bound, plan)},
                          count_cell(bound.servers),
                          percent_cell(bound.utilization),
                          {text::format_number(1e3 * bound.demand_s), bound.demand_s},
                          bounded_cell(bound.rate_per_s.value, bound.is_lower_bound, false)});
  }
  return table;
}

Table nodes_table(const Plan& plan) {
  Table table{.title = "Nodes",
              .heads = {"node", "runs", "at once", "images", "images/s"},
              .has_name_first = true};
  if (!plan.concurrent_runs) return table;
  for (const NodeRuns& node : plan.concurrent_runs->nodes) {
    table.rows.push_back({{text::printable(node.host)},
                          count_cell(node.runs),
                          count_cell(node.most_at_once),
                          {text::group_digits(node.images), double(node.images)},
                          number_cell(node.images_per_s())});
  }
  return table;
}

}  // namespace eckart::capacity
