#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {

std::vector<std::string> notes(const Plan& plan) {
  std::vector<std::string> notes;
  if (!plan.held_out_runs.empty()) {
    notes.push_back(fmt::format(
        "{} on other core counts: shown as measured, not used for predictions",
        plan.held_out_runs.size() == 1 ? "1 run is"
                                       : fmt::format("{} runs are", plan.held_out_runs.size())));
  }
  if (plan.omitted_workloads > 0) {
    notes.push_back(fmt::format(
        "{} no run with the core counts given with --fit-cores",
        plan.omitted_workloads == 1
            ? "1 other workload in these logs has"
            : fmt::format("{} other workloads in these logs have", plan.omitted_workloads)));
  }
  for (const Contradiction& c : plan.contradictions) {
    const std::string cores = text::format_count(c.cores, "core");
    if (c.predicted_per_s == 0) {
      notes.push_back(
          fmt::format("runs on {} had {} images/s, {} apart: other processes or the disk disturbed "
                      "them; repeat the runs",
                      cores, format_range({0, c.low_per_s, c.high_per_s}),
                      format_percent(c.high_per_s / c.low_per_s - 1)));
    } else {
      notes.push_back(
          fmt::format("on {} the prediction is {}, but {} were measured: predictions for other "
                      "core counts may be wrong",
                      cores, format_images_per_s(c.predicted_per_s),
                      c.low_per_s < c.high_per_s ? format_range({0, c.low_per_s, c.high_per_s})
                                                 : text::format_number(c.low_per_s)));
    }
  }
  if (plan.baseline.has_cpu_contention()) {
    notes.push_back(
        fmt::format("compute lanes took {} times their CPU time although {} of the core time was "
                    "unused by eckart: other processes ran; repeat the runs",
                    text::format_number(plan.baseline.cpu_contention_ratio),
                    format_percent(1 - plan.baseline.core_utilization)));
  }
  if (plan.noise > 1.01 * kRunNoise) {
    notes.push_back(fmt::format(
        "runs on the same cores, or their intervals, differ by {}; the 95 % intervals include that",
        format_percent(plan.noise)));
  }
  const bool has_disk = std::ranges::any_of(
      plan.predictions, [](const PredictionRow& at) { return at.bottleneck == Resource::disk; });
  if (has_disk && plan.current_capacity.bottleneck != Resource::disk)
    notes.push_back(kDiskLimitUnknown);
  const bool has_steps = std::ranges::any_of(plan.predictions, [&](const PredictionRow& at) {
    return has_thread_setting(*at.bottleneck) &&
           !plan.fixed_threads.contains(*stage_of(*at.bottleneck));
  });
  if (has_steps) {
    notes.push_back(
        "rates increase in steps where a thread count is the bottleneck; thread counts are "
        "settings");
  }
  for (const auto& [stage, threads] : plan.fixed_threads) {
    if (std::ranges::count(plan.predictions, resource_of(stage), &PredictionRow::bottleneck) == 0)
      continue;
    notes.push_back(
        fmt::format("{}={} was set in all runs and is a bottleneck; consider a higher value",
                    thread_setting_name(stage), threads));
  }
  if (plan.has_unsupported_gpu_request) {
    notes.push_back("these runs used no GPU, so --gpus is ignored");
  }
  for (const Bound& bound : plan.bounds) {
    if (!bound.is_lower_bound) continue;
    notes.push_back(
        "the GPU's rate is a lower bound: NVML reports it as busy whenever any kernel runs");
  }
  if (plan.has_varying_threads) {
    notes.push_back(
        "the runs had different thread settings; predictions assume thread counts of 'auto'");
  }
  const bool is_short =
      std::ranges::all_of(plan.runs, [](const RunMeasurement& run) { return run.intervals == 0; });
  if (is_short) {
    notes.push_back(
        "the runs were too short: the rates include start and end; use runs of a few minutes");
  }
  return notes;
}

}  // namespace eckart::capacity
