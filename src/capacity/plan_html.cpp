#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/number_format.hpp"
#include "capacity/plan.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "capacity/plan_tables.hpp"
#include "html/page.hpp"
#include "html/plot.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::capacity {
namespace {

using html::Bar;
using html::data_element;
using html::OnPhone;
using html::Plot;
using html::PlotSeries;
using html::row;
using html::table;

std::string data_element(int value) { return data_element(value, text::group_digits(value)); }
std::string data_element(double value) { return data_element(value, text::format_number(value)); }

std::string cell_html(const Cell& cell) {
  return cell.value ? data_element(*cell.value, cell.text) : html::escape(cell.text);
}

std::string table(const Table& of, OnPhone on_phone) {
  if (of.rows.empty()) return {};
  std::string rows;
  for (const std::vector<Cell>& cells : of.rows) {
    std::vector<std::string> html;
    html.reserve(cells.size());
    for (const Cell& cell : cells) html.push_back(cell_html(cell));
    rows += row(html, of.heads);
  }
  return table(of.title, of.heads, rows, on_phone);
}

/// Keeps numbers and their % on one line.
std::string sentence_html(const std::string& sentence) {
  std::string html = html::escape(sentence);
  for (std::size_t at = 0; (at = html.find(" %", at)) != html.npos;) html.replace(at, 1, "&nbsp;");
  return html;
}

std::string list(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string html = fmt::format("<h3>{}</h3>\n<ul>\n", title);
  for (const std::string& sentence : sentences)
    html += fmt::format("<li>{}</li>\n", sentence_html(sentence));
  return html + "</ul>\n";
}

std::string item(const std::string& label, const std::string& sentence) {
  if (sentence.empty()) return {};
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, sentence_html(sentence));
}

std::string busy_bars(const Plan& plan) {
  if (plan.bounds.empty()) return {};
  std::vector<Bar> bars;
  for (const Bound& bound : plan.bounds) {
    const double utilization = bound.utilization;
    bars.push_back({part_name(bound, plan), format_percent(utilization), utilization,
                    &bound == &plan.bounds.front()});
  }
  return html::to_svg(fmt::format("How busy each part was, at {} images/s",
                                  text::format_number(plan.baseline.rate_per_s)),
                      bars);
}

/// Plots the rates with the current number of GPUs.
std::string rate_plot(const Plan& plan) {
  Plot plot{.title = "Rate by cores",
            .x = {.label = "cores", .min_step = 1},
            .y = {.label = "images/s"},
            .series = {}};
  PlotSeries predicted{.label = "predicted, 95 %", .css_class = "c1", .points = {}};
  PlotSeries measured{
      .label = "measured", .css_class = "c2", .style = PlotSeries::Style::points, .points = {}};
  for (const Prediction& at : plan.curve) {
    predicted.points.emplace_back(at.cores, at.rate_per_s.value);
    predicted.band.emplace_back(at.rate_per_s.low, at.rate_per_s.high);
    plot.x.max = std::max(plot.x.max, double(at.cores));
    plot.y.max = std::max(plot.y.max, 1.05 * at.rate_per_s.high);
  }
  for (const std::vector<RunMeasurement>* runs : {&plan.runs, &plan.held_out_runs}) {
    for (const RunMeasurement& run : *runs) {
      if (run.gpus != plan.gpus) continue;
      measured.points.emplace_back(run.cores, run.rate_per_s);
      plot.y.max = std::max(plot.y.max, 1.05 * run.rate_per_s);
    }
  }
  if (plan.is_inconclusive() && !plan.is_recorded()) {
    predicted.label = "predicted (upper bound)";
  } else if (plan.is_disk_guess() && !plan.is_recorded()) {
    predicted.label = "predicted (about)";
  } else if (!plan.scaling.is_known && plan.has_upper_bounds()) {
    predicted.label = "predicted (upper bound above the measured cores)";
  }
  plot.series = {predicted, measured};
  if (plan.target) {
    const double rate = plan.target->rate_per_s;
    plot.y.max = std::max(plot.y.max, std::min(1.1 * rate, 2 * plot.y.max));
    plot.series.push_back(
        {"target", "c3", PlotSeries::Style::dashed, {{0, rate}, {plot.x.max, rate}}});
  }
  return html::to_svg(plot);
}

std::string speedup_plot(const Plan& plan) {
  if (!plan.scaling.measured) return {};
  const int max_cores = plan.curve.back().cores;
  PlotSeries amdahl{.label = "Amdahl (fixed work), 95 %",
                    .css_class = "c1",
                    .points = {{1, 1}},
                    .band = {{1, 1}}};
  PlotSeries gustafson{.label = "Gustafson (work grows with cores)",
                       .css_class = "c2",
                       .style = PlotSeries::Style::dashed,
                       .points = {{1, 1}}};
  const Estimate& serial_fraction = plan.scaling.serial_fraction;
  for (int n = 2; n <= max_cores; ++n) {
    amdahl.points.emplace_back(n, amdahl_speedup(serial_fraction.value, n));
    amdahl.band.emplace_back(amdahl_speedup(serial_fraction.high, n),
                             amdahl_speedup(serial_fraction.low, n));
    gustafson.points.emplace_back(
        n, gustafson_speedup(plan.scaling.gustafson_serial_fraction.value, n));
  }
  return html::to_svg(Plot{
      .title = "How many times as fast as one core",
      .x = {.label = "cores", .max = double(max_cores), .min_step = 1},
      .y = {.label = "times one core", .max = double(max_cores)},
      .series = {amdahl,
                 gustafson,
                 {"linear", "c3", PlotSeries::Style::dotted, {{0, 0}, {max_cores, max_cores}}}}});
}

std::string run_table(const Plan& plan) {
  static const std::vector<std::string> kHeads = {"run",  "cores",    "GPUs",       "images",
                                                  "time", "images/s", "cores busy", "saturated"};
  std::string rows;
  for (const RunMeasurement& run : plan.runs) {
    rows += row({html::escape(run.run), data_element(run.cores), data_element(run.gpus),
                 data_element(double(run.images), text::group_digits(run.images)),
                 data_element(run.elapsed_s, text::format_duration(run.elapsed_s)),
                 data_element(run.rate_per_s),
                 data_element(run.core_utilization, format_percent(run.core_utilization)),
                 run.saturated ? std::string(to_string(*run.saturated)) : "nothing"},
                kHeads);
  }
  return table("Runs", kHeads, rows, OnPhone::list);
}

std::string details(const Plan& plan) {
  std::string html = "<details><summary>Details for engineers</summary>\n<dl>\n";
  html += item("Amdahl", amdahl_sentence(plan)) + item("Gustafson", gustafson_sentence(plan)) +
          item("Little", littles_law_sentence(plan));
  html += "</dl>\n" + table(busy_table(plan), OnPhone::list) + run_table(plan);
  html += fmt::format("<h3>JSON</h3>\n<pre>{}</pre>\n", html::escape(to_json(plan)));
  return html + "</details>\n";
}

std::string nodes_html(const Plan& plan) {
  if (!plan.concurrent_runs) return {};
  return table(nodes_table(plan), OnPhone::list) +
         fmt::format("<p>{}</p>\n", sentence_html(concurrent_runs_sentence(plan)));
}

std::string section(const std::vector<Plan>& plans, std::size_t index) {
  const Plan& plan = plans.at(index);
  std::string html = "<section>\n";
  if (plans.size() > 1)
    html += fmt::format("<h2>{}</h2>\n", html::escape(plan_title(plans, index)));
  html += fmt::format("<p class='answer'>{}</p>\n", sentence_html(manager_paragraph(plan)));
  html += table(options_table(plan), OnPhone::list);
  html +=
      "<div class='plots'>\n" + rate_plot(plan) + speedup_plot(plan) + busy_bars(plan) + "</div>\n";
  html += list("Why", reasons(plan)) + list("Caveats", caveats(plan)) +
          table(rates_table(plan), OnPhone::table) + nodes_html(plan);
  html += "<h3>Based on</h3>\n<dl>\n";
  for (const BasisLine& line : basis(plan)) html += item(line.label, line.text);
  return html + "</dl>\n" + details(plan) + "</section>\n";
}

}  // namespace

std::string to_html(const std::vector<Plan>& plans, const std::vector<std::string>& warnings) {
  std::string sections;
  for (std::size_t i = 0; i < plans.size(); ++i) sections += section(plans, i);
  for (const std::string& warning : warnings) {
    sections += fmt::format("<p class='warning'>{}</p>\n", html::escape(warning));
  }
  return html::page("Capacity plan", sections);
}

}  // namespace eckart::capacity
