#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/figures.hpp"
#include "capacity/plan.hpp"
#include "capacity/sentences.hpp"

namespace eckart::capacity {
namespace {

std::string labelled(std::string_view label, const std::string& text) {
  return text.empty() ? "" : fmt::format("{:<11}{}\n", label, text);
}

std::string demand_text(const Plan& plan) {
  constexpr std::string_view kRow = "{:<11}{:>8}{:>15}{:>8}   {}\n";
  std::string table =
      fmt::format(kRow, "resource", "servers", "ms an image", "busy", "alone it would allow");
  for (const Bound& bound : plan.bounds) {
    table += fmt::format(kRow, bound.resource, bound.servers, figure(1e3 * bound.demand_s),
                         percent(bound.busy),
                         fmt::format("{}{} images/s", bound.is_at_least ? "at least " : "",
                                     figure(bound.rate_per_s.value)));
  }
  return table;
}

std::string speedup_text(const Plan& plan) {
  if (plan.scaling.speedups.empty()) return {};
  constexpr std::string_view kRow = "{:<11}{:>10}{:>18}{:>16}\n";
  std::string table = fmt::format(kRow, "speed-up", "Amdahl", "95 %", "Gustafson");
  for (const Speedup& speedup : plan.scaling.speedups) {
    table += fmt::format(kRow, counted(speedup.cores, "core"), figure(speedup.amdahl.value),
                         between(speedup.amdahl), figure(speedup.gustafson));
  }
  return table + "\n";
}

std::string rate_text(const Plan& plan) {
  constexpr std::string_view kRow = "{:<6}{:>5}{:>11}{:>20}{:>11}   {}\n";
  std::string table = fmt::format(kRow, "cores", plan.gpus > 0 ? "GPUs" : "", "images/s", "95 %",
                                  "measured", "limit");
  for (const Predicted& at : plan.predictions) {
    table +=
        fmt::format(kRow, at.cores, plan.gpus > 0 ? std::to_string(at.gpus) : "",
                    figure(at.rate_per_s.value), at.is_at_most ? "at most" : between(at.rate_per_s),
                    at.measured_per_s ? figure(*at.measured_per_s) : "", limit_in_words(at, plan));
  }
  return table;
}

}  // namespace

std::string to_text(const Plan& plan) {
  std::string text = labelled("verdict", verdict_sentence(plan)) + "\n";
  text += labelled("logs", runs_sentence(plan));
  text += labelled("machine", machine_sentence(plan));
  text += labelled("work", work_sentence(plan)) + "\n";
  text += labelled("limit", limit_sentence(plan));
  text += labelled("next", next_sentence(plan)) + "\n";
  text += demand_text(plan) + "\n";
  text += labelled("Little", littles_law_sentence(plan));
  text += labelled("Amdahl", amdahl_sentence(plan));
  text += labelled("Gustafson", gustafson_sentence(plan)) + "\n";
  text += speedup_text(plan) + rate_text(plan) + "\n";
  text += labelled("one more", one_more_sentence(plan));
  for (const std::string& sentence : target_sentences(plan)) text += labelled("target", sentence);
  text += labelled("peak", peak_sentence(plan));
  text += labelled("energy", energy_sentence(plan));
  for (const std::string& note : notes(plan)) text += labelled("note", note);
  return text;
}

}  // namespace eckart::capacity
