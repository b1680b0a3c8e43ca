#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/html_style.hpp"
#include "capacity/number_format.hpp"
#include "capacity/plan.hpp"
#include "capacity/plan_sentences.hpp"
#include "capacity/plot.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::capacity {
namespace {

/// Returns a number for people together with its full value for programs, formatted as in the JSON.
std::string data_element(double value, const std::string& text) {
  return fmt::format("<data value='{}'>{}</data>", value, escape_html(text));
}
std::string data_element(int value) { return data_element(value, text::group_digits(value)); }
std::string data_element(double value) { return data_element(value, text::format_number(value)); }

std::string data_element(const Estimate& interval) {
  return data_element(interval.low) + " to " + data_element(interval.high);
}

std::string row(const std::vector<std::string>& cells, const char* tag = "td") {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", tag, cell);
  return html + "</tr>\n";
}

std::string table(const std::string& title, const std::vector<std::string>& heads,
                  const std::string& rows) {
  return fmt::format(
      "<h3>{}</h3>\n<div class='wide'><table><thead>{}</thead><tbody>\n{}</tbody></table></div>\n",
      escape_html(title), row(heads, "th"), rows);
}

/// Keeps numbers and their % on one line.
std::string sentence_html(const std::string& sentence) {
  std::string html = escape_html(sentence);
  for (std::size_t at = 0; (at = html.find(" %", at)) != html.npos;) html.replace(at, 1, "&nbsp;");
  return html;
}

std::string item(const std::string& label, const std::string& sentence) {
  if (sentence.empty()) return {};
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, sentence_html(sentence));
}

std::string answers_html(const Plan& plan) {
  std::string html = "<dl>\n" + item("Recommendation", recommendation_sentence(plan));
  html += item("Bottleneck", bottleneck_sentence(plan));
  html += item("Next bottleneck", next_bottleneck_sentence(plan));
  html += item("Gain", one_more_sentence(plan));
  for (const std::string& sentence : target_sentences(plan)) html += item("Target", sentence);
  html += item("Peak", peak_sentence(plan));
  html += item("Energy", energy_sentence(plan));
  return html + "</dl>\n";
}

std::string busy_bars(const Plan& plan) {
  std::vector<Bar> bars;
  for (const Bound& bound : plan.bounds) {
    const double utilization = bound.utilization;
    bars.push_back({std::string(to_string(bound.resource)), format_percent(utilization),
                    utilization, &bound == &plan.bounds.front()});
  }
  return to_svg(
      fmt::format("Utilization at {} images/s", text::format_number(plan.baseline.rate_per_s)),
      bars);
}

/// Plots the rates with the current number of GPUs.
std::string rate_plot(const Plan& plan) {
  Plot plot{.title = "Rate by cores", .x_label = "cores", .y_label = "images/s", .series = {}};
  PlotSeries predicted{.label = "predicted, 95 %", .css_class = "c1", .points = {}};
  PlotSeries measured{
      .label = "measured", .css_class = "c2", .style = PlotSeries::Style::points, .points = {}};
  for (const Prediction& at : plan.curve) {
    predicted.points.emplace_back(at.cores, at.rate_per_s.value);
    predicted.band.emplace_back(at.rate_per_s.low, at.rate_per_s.high);
    plot.x_max = std::max(plot.x_max, double(at.cores));
    plot.y_max = std::max(plot.y_max, 1.05 * at.rate_per_s.high);
  }
  for (const std::vector<RunMeasurement>* runs : {&plan.runs, &plan.held_out_runs}) {
    for (const RunMeasurement& run : *runs) {
      if (run.gpus != plan.gpus) continue;
      measured.points.emplace_back(run.cores, run.rate_per_s);
      plot.y_max = std::max(plot.y_max, 1.05 * run.rate_per_s);
    }
  }
  if (!plan.scaling.is_known) predicted.label = "predicted (upper bound above the measured cores)";
  plot.series = {predicted, measured};
  if (plan.target) {
    const double rate = plan.target->rate_per_s;
    plot.y_max = std::max(plot.y_max, std::min(1.1 * rate, 2 * plot.y_max));
    plot.series.push_back(
        {"target", "c3", PlotSeries::Style::dashed, {{0, rate}, {plot.x_max, rate}}});
  }
  return to_svg(plot);
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
  return to_svg(Plot{
      .title = "Speedup by cores",
      .x_label = "cores",
      .y_label = "speedup over one core",
      .x_max = double(max_cores),
      .y_max = double(max_cores),
      .series = {amdahl,
                 gustafson,
                 {"linear", "c3", PlotSeries::Style::dotted, {{0, 0}, {max_cores, max_cores}}}}});
}

std::string bounds_table(const Plan& plan) {
  std::string rows;
  for (const Bound& bound : plan.bounds) {
    const double utilization = bound.utilization;
    rows += row({escape_html(std::string(to_string(bound.resource))), data_element(bound.servers),
                 data_element(bound.demand_s, text::format_number(1e3 * bound.demand_s)),
                 data_element(utilization, format_percent(utilization)),
                 (bound.is_lower_bound ? "at least " : "") + data_element(bound.rate_per_s.value)});
  }
  return table(
      "Service demand per image by resource",
      {"resource", "servers", "ms an image", "busy", "rate if it were the only limit, images/s"},
      rows);
}

std::string rate_table(const Plan& plan) {
  std::string rows;
  for (const PredictionRow& at : plan.predictions) {
    const bool is_upper_bound = at.is_upper_bound;
    rows += row({data_element(at.cores), data_element(at.gpus), data_element(at.rate_per_s.value),
                 is_upper_bound ? "at most" : data_element(at.rate_per_s),
                 at.measured_per_s ? data_element(*at.measured_per_s) : "",
                 escape_html(bottleneck_phrase(at, plan))});
  }
  return table("Rates by cores and GPUs",
               {"cores", "GPUs", "images/s", "95 %", "measured", "limit"}, rows);
}

std::string run_table(const Plan& plan) {
  std::string rows;
  for (const RunMeasurement& run : plan.runs) {
    rows += row({escape_html(run.run), data_element(run.cores), data_element(run.gpus),
                 data_element(double(run.images), text::group_digits(run.images)),
                 data_element(run.elapsed_s, text::format_duration(run.elapsed_s)),
                 data_element(run.rate_per_s),
                 data_element(run.core_utilization, format_percent(run.core_utilization)),
                 escape_html(run.saturated ? resource_phrase(*run.saturated) : "nothing")});
  }
  return table(
      "Runs",
      {"run", "cores", "GPUs", "images", "time", "images/s", "core utilization", "saturated"},
      rows);
}

std::string section(const Plan& plan) {
  std::string html =
      fmt::format("<section>\n<h2>{}</h2>\n<p>{}<br>{}</p>\n", escape_html(machine_sentence(plan)),
                  escape_html(work_sentence(plan)), escape_html(runs_sentence(plan)));
  html += answers_html(plan);
  html +=
      "<div class='plots'>\n" + rate_plot(plan) + speedup_plot(plan) + busy_bars(plan) + "</div>\n";
  html += "<dl>\n" + item("Amdahl", amdahl_sentence(plan)) +
          item("Gustafson", gustafson_sentence(plan)) + item("Little", littles_law_sentence(plan));
  for (const std::string& note : notes(plan)) html += item("Note", note);
  html += "</dl>\n" + bounds_table(plan) + rate_table(plan) + run_table(plan);
  html += fmt::format("<details><summary>JSON</summary><pre>{}</pre></details>\n",
                      escape_html(to_json(plan)));
  return html + "</section>\n";
}

}  // namespace

std::string to_html(const std::vector<Plan>& plans, const std::vector<std::string>& warnings) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
      "<title>Capacity plan</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Capacity plan</h1>\n",
      kHtmlStyle);
  for (const Plan& plan : plans) html += section(plan);
  for (const std::string& warning : warnings) {
    html += fmt::format("<p class='warning'>{}</p>\n", escape_html(warning));
  }
  return html + "</body>\n</html>\n";
}

}  // namespace eckart::capacity
