#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"

namespace eckart::capacity {

std::vector<std::string> notes(const Plan& plan) {
  std::vector<std::string> notes;
  if (!plan.held_out_runs.empty()) {
    notes.push_back(fmt::format(
        "{} on other cores: what they did is shown as measured, and known to no prediction",
        plan.held_out_runs.size() == 1 ? "1 run is"
                                       : fmt::format("{} runs are", plan.held_out_runs.size())));
  }
  if (plan.omitted_workloads > 0) {
    notes.push_back(fmt::format("of {} in these logs no run is on the cores to predict from",
                                plan.omitted_workloads == 1 ? "another kind of work"
                                                            : fmt::format("{} other kinds of work",
                                                                          plan.omitted_workloads)));
  }
  for (const Contradiction& c : plan.contradictions) {
    const std::string cores = format_count(c.cores, "core");
    if (c.predicted_per_s == 0) {
      notes.push_back(fmt::format(
          "runs on {} had {} images/s, {} apart: something else worked on this machine, or the "
          "disk; do not buy from this",
          cores, format_range({0, c.low_per_s, c.high_per_s}),
          format_percent(c.high_per_s / c.low_per_s - 1)));
    } else {
      notes.push_back(fmt::format(
          "on {} {} are predicted, and {} were measured: what is said of other cores is in doubt",
          cores, format_images_per_s(c.predicted_per_s),
          c.low_per_s < c.high_per_s ? format_range({0, c.low_per_s, c.high_per_s})
                                     : format_number(c.low_per_s)));
    }
  }
  if (plan.baseline.has_cpu_contention()) {
    notes.push_back(fmt::format(
        "lanes took {} times their CPU time while this process left {} of the cores' time: "
        "something else worked on this machine; do not buy from this",
        format_number(plan.baseline.cpu_contention_ratio),
        format_percent(1 - plan.baseline.core_utilization)));
  }
  if (plan.noise > 1.01 * kRunNoise) {
    notes.push_back(
        fmt::format("runs on the same cores, or their parts, differ by {}, and the 95 % "
                    "intervals are as wide as that makes them",
                    format_percent(plan.noise)));
  }
  const bool has_disk = std::ranges::any_of(
      plan.predictions, [](const PredictionRow& at) { return at.bottleneck == "disk"; });
  if (has_disk && plan.current_capacity.bottleneck != "disk") notes.push_back(kDiskLimitUnknown);
  const bool has_steps = std::ranges::any_of(plan.predictions, [&](const PredictionRow& at) {
    return has_thread_setting(at.bottleneck) && !plan.fixed_threads.contains(at.bottleneck);
  });
  if (has_steps) {
    notes.push_back(
        "where threads limit, the rates have steps, since there are whole threads; their number is "
        "a setting");
  }
  for (const auto& [stage, threads] : plan.fixed_threads) {
    if (std::ranges::count(plan.predictions, stage, &PredictionRow::bottleneck) == 0) continue;
    notes.push_back(fmt::format("{}={} was set in all runs, and limits; it could be raised",
                                thread_setting_name(stage), threads));
  }
  if (plan.has_unsupported_gpu_request) {
    notes.push_back("these runs used no GPU, so nothing can be said of rates with --gpus");
  }
  for (const Bound& bound : plan.bounds) {
    if (!bound.is_lower_bound) continue;
    notes.push_back(
        "what the GPU could do is a lower bound: NVML calls it busy when a kernel runs, however "
        "little of it that fills");
  }
  if (plan.has_varying_threads) {
    notes.push_back(
        "the runs set their threads differently; the rates are for as many as auto has for the "
        "cores");
  }
  const bool is_short =
      std::ranges::all_of(plan.runs, [](const RunMeasurement& run) { return run.intervals == 0; });
  if (is_short) {
    notes.push_back(
        "the runs were too short for their intervals: the rates have their beginning and end in "
        "them; a few minutes tell more");
  }
  return notes;
}

}  // namespace eckart::capacity
