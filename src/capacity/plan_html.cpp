#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/figures.hpp"
#include "capacity/html_style.hpp"
#include "capacity/plan.hpp"
#include "capacity/plot.hpp"
#include "capacity/sentences.hpp"
#include "core/grouped.hpp"

namespace eckart::capacity {
namespace {

/// A number as people read it, with the whole of it for machines: as the JSON has it.
std::string data(double value, const std::string& text) {
  return fmt::format("<data value='{}'>{}</data>", value, escaped(text));
}
std::string data(int value) { return data(value, grouped(value)); }
std::string data(double value) { return data(value, figure(value)); }

std::string data(const Interval& interval) {
  return data(interval.low) + " to " + data(interval.high);
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
      escaped(title), row(heads, "th"), rows);
}

/// Numbers and their % stay on a line.
std::string sentence_html(const std::string& sentence) {
  std::string html = escaped(sentence);
  for (std::size_t at = 0; (at = html.find(" %", at)) != html.npos;) html.replace(at, 1, "&nbsp;");
  return html;
}

std::string item(const std::string& label, const std::string& sentence) {
  if (sentence.empty()) return {};
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, sentence_html(sentence));
}

std::string answers(const Plan& plan) {
  std::string html = "<dl>\n" + item("Verdict", verdict_sentence(plan));
  html += item("Limit", limit_sentence(plan));
  html += item("Next", next_sentence(plan));
  html += item("One more", one_more_sentence(plan));
  for (const std::string& sentence : target_sentences(plan)) html += item("Target", sentence);
  html += item("Peak", peak_sentence(plan));
  html += item("Energy", energy_sentence(plan));
  return html + "</dl>\n";
}

std::string busy_bars(const Plan& plan) {
  std::vector<Bar> bars;
  for (const Bound& bound : plan.bounds) {
    const double busy = bound.busy;
    bars.push_back({bound.resource, percent(busy), busy, &bound == &plan.bounds.front()});
  }
  return to_svg(
      fmt::format("How busy each resource is at {} images/s", figure(plan.present.rate_per_s)),
      bars);
}

/// With the GPUs that are here.
std::string rate_plot(const Plan& plan) {
  Plot plot{.title = "Rate by cores", .x_label = "cores", .y_label = "images/s", .series = {}};
  Series predicted{.label = "predicted, 95 %", .colour = "c1", .points = {}};
  Series measured{
      .label = "measured", .colour = "c2", .style = Series::Style::points, .points = {}};
  for (const Prediction& at : plan.curve) {
    predicted.points.emplace_back(at.cores, at.rate_per_s.value);
    predicted.band.emplace_back(at.rate_per_s.low, at.rate_per_s.high);
    plot.x_max = std::max(plot.x_max, double(at.cores));
    plot.y_max = std::max(plot.y_max, 1.05 * at.rate_per_s.high);
  }
  for (const std::vector<Measured>* runs : {&plan.runs, &plan.others}) {
    for (const Measured& run : *runs) {
      if (run.gpus != plan.gpus) continue;
      measured.points.emplace_back(run.cores, run.rate_per_s);
      plot.y_max = std::max(plot.y_max, 1.05 * run.rate_per_s);
    }
  }
  if (!plan.scaling.is_known) predicted.label = "predicted; an upper bound for more cores";
  plot.series = {predicted, measured};
  if (plan.target) {
    const double rate = plan.target->rate_per_s;
    plot.y_max = std::max(plot.y_max, std::min(1.1 * rate, 2 * plot.y_max));
    plot.series.push_back({"target", "c3", Series::Style::dashed, {{0, rate}, {plot.x_max, rate}}});
  }
  return to_svg(plot);
}

std::string speedup_plot(const Plan& plan) {
  if (!plan.scaling.measured) return {};
  const int most = plan.curve.back().cores;
  Series amdahl{
      .label = "Amdahl, the same work, 95 %", .colour = "c1", .points = {{1, 1}}, .band = {{1, 1}}};
  Series gustafson{.label = "Gustafson, work that grows",
                   .colour = "c2",
                   .style = Series::Style::dashed,
                   .points = {{1, 1}}};
  const auto at = [](double serial, int n) { return n / (1 + serial * (n - 1)); };
  const Interval& serial = plan.scaling.serial;
  for (int n = 2; n <= most; ++n) {
    amdahl.points.emplace_back(n, at(serial.value, n));
    amdahl.band.emplace_back(at(serial.high, n), at(serial.low, n));
    gustafson.points.emplace_back(n, n - plan.scaling.scaled_serial.value * (n - 1));
  }
  return to_svg(Plot{
      .title = "Speed-up by cores",
      .x_label = "cores",
      .y_label = "times as fast as one core",
      .x_max = double(most),
      .y_max = double(most),
      .series = {
          amdahl, gustafson, {"linear", "c3", Series::Style::dotted, {{0, 0}, {most, most}}}}});
}

std::string demand_table(const Plan& plan) {
  std::string rows;
  for (const Bound& bound : plan.bounds) {
    const double busy = bound.busy;
    rows += row({escaped(bound.resource), data(bound.servers),
                 data(bound.demand_s, figure(1e3 * bound.demand_s)), data(busy, percent(busy)),
                 (bound.is_at_least ? "at least " : "") + data(bound.rate_per_s.value)});
  }
  return table("What an image takes of each resource",
               {"resource", "servers", "ms an image", "busy", "alone it would allow, images/s"},
               rows);
}

std::string rate_table(const Plan& plan) {
  std::string rows;
  for (const Predicted& at : plan.predictions) {
    const bool is_most = at.is_at_most;
    rows +=
        row({data(at.cores), data(at.gpus), data(at.rate_per_s.value),
             is_most ? "at most" : data(at.rate_per_s),
             at.measured_per_s ? data(*at.measured_per_s) : "", escaped(limit_in_words(at, plan))});
  }
  return table("Rates by cores and GPUs",
               {"cores", "GPUs", "images/s", "95 %", "measured", "limit"}, rows);
}

std::string run_table(const Plan& plan) {
  std::string rows;
  for (const Measured& run : plan.runs) {
    rows += row({escaped(run.run), data(run.cores), data(run.gpus),
                 data(double(run.images), grouped(run.images)),
                 data(run.elapsed_s, duration(run.elapsed_s)), data(run.rate_per_s),
                 data(run.core_share, percent(run.core_share)),
                 escaped(run.saturated.empty() ? "nothing" : in_words(run.saturated))});
  }
  return table("Runs",
               {"run", "cores", "GPUs", "images", "time", "images/s", "cores busy", "saturated"},
               rows);
}

std::string section(const Plan& plan) {
  std::string html =
      fmt::format("<section>\n<h2>{}</h2>\n<p>{}<br>{}</p>\n", escaped(machine_sentence(plan)),
                  escaped(work_sentence(plan)), escaped(runs_sentence(plan)));
  html += answers(plan);
  html +=
      "<div class='plots'>\n" + rate_plot(plan) + speedup_plot(plan) + busy_bars(plan) + "</div>\n";
  html += "<dl>\n" + item("Amdahl", amdahl_sentence(plan)) +
          item("Gustafson", gustafson_sentence(plan)) + item("Little", littles_law_sentence(plan));
  for (const std::string& note : notes(plan)) html += item("Note", note);
  html += "</dl>\n" + demand_table(plan) + rate_table(plan) + run_table(plan);
  html += fmt::format("<details><summary>The same as JSON</summary><pre>{}</pre></details>\n",
                      escaped(to_json(plan)));
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
    html += fmt::format("<p class='warning'>{}</p>\n", escaped(warning));
  }
  return html + "</body>\n</html>\n";
}

}  // namespace eckart::capacity
