#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

std::string labeled(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<16}{}\n", label, text);
}

std::string bounds_text(const Plan& plan) {
  constexpr std::string_view kRow = "{:<11}{:>8}{:>15}{:>13}   {}\n";
  std::string table = fmt::format(kRow, "resource", "servers", "ms/image", "utilization",
                                  "rate if it were the only limit");
  for (const Bound& bound : plan.bounds) {
    table +=
        fmt::format(kRow, to_string(bound.resource), bound.servers,
                    text::format_number(1e3 * bound.demand_s), format_percent(bound.utilization),
                    fmt::format("{}{} images/s", bound.is_lower_bound ? "at least " : "",
                                text::format_number(bound.rate_per_s.value)));
  }
  return table;
}

std::string speedup_text(const Plan& plan) {
  if (plan.scaling.speedups.empty()) return {};
  constexpr std::string_view kRow = "{:<11}{:>10}{:>18}{:>16}\n";
  std::string table = fmt::format(kRow, "speedup", "Amdahl", "95 %", "Gustafson");
  for (const Speedup& speedup : plan.scaling.speedups) {
    table += fmt::format(kRow, text::format_count(speedup.cores, "core"),
                         text::format_number(speedup.amdahl.value), format_range(speedup.amdahl),
                         text::format_number(speedup.gustafson));
  }
  return table + "\n";
}

std::string rate_text(const Plan& plan) {
  constexpr std::string_view kRow = "{:<6}{:>5}{:>11}{:>20}{:>11}   {}\n";
  std::string table = fmt::format(kRow, "cores", plan.gpus > 0 ? "GPUs" : "", "images/s", "95 %",
                                  "measured", "limit");
  for (const PredictionRow& at : plan.predictions) {
    table += fmt::format(kRow, at.cores, plan.gpus > 0 ? std::to_string(at.gpus) : "",
                         text::format_number(at.rate_per_s.value),
                         at.is_upper_bound ? "at most" : format_range(at.rate_per_s),
                         at.measured_per_s ? text::format_number(*at.measured_per_s) : "",
                         bottleneck_phrase(at, plan));
  }
  return table;
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text = labeled("recommendation", recommendation_sentence(plan)) + "\n";
  text += labeled("logs", runs_sentence(plan));
  text += labeled("machine", machine_sentence(plan));
  text += labeled("work", work_sentence(plan)) + "\n";
  text += labeled("bottleneck", bottleneck_sentence(plan));
  text += labeled("next bottleneck", next_bottleneck_sentence(plan)) + "\n";
  text += bounds_text(plan) + "\n";
  text += labeled("Little", littles_law_sentence(plan));
  text += labeled("Amdahl", amdahl_sentence(plan));
  text += labeled("Gustafson", gustafson_sentence(plan)) + "\n";
  text += speedup_text(plan) + rate_text(plan) + "\n";
  text += labeled("gain", one_more_sentence(plan));
  for (const std::string& sentence : target_sentences(plan)) text += labeled("target", sentence);
  text += labeled("peak", peak_sentence(plan));
  text += labeled("energy", energy_sentence(plan));
  for (const std::string& note : notes(plan)) text += labeled("note", note);
  return text;
}

}  // namespace eckart::capacity
