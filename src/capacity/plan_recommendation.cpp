#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

constexpr double kMinRunSeconds = 2;  // start and end dominate shorter runs

/// Returns why a decision must not be based on these logs; empty if they are reliable.
std::string data_problem(const Plan& plan) {
  const Contradiction* worst = nullptr;
  const auto is_of_runs = [](const Contradiction& c) { return c.predicted_per_s == 0; };
  const auto ratio = [](const Contradiction& c) { return c.high_per_s / c.low_per_s; };
  for (const Contradiction& c : plan.contradictions) {
    if (c.is_held_out) continue;
    if (is_of_runs(c) && (!worst || ratio(c) > ratio(*worst))) worst = &c;
  }
  if (worst) {
    return fmt::format("runs on {} differ by {}", text::format_count(worst->cores, "core"),
                       format_percent(ratio(*worst) - 1));
  }
  if (plan.baseline.has_cpu_contention()) {
    return fmt::format("compute lanes took {} times their CPU time: other processes used the cores",
                       text::format_number(plan.baseline.cpu_contention_ratio));
  }
  double longest_s = 0;
  for (const RunMeasurement& run : plan.runs) longest_s = std::max(longest_s, run.elapsed_s);
  if (longest_s < kMinRunSeconds && !plan.is_inconclusive())
    return fmt::format("no run was longer than {} s", text::format_number(kMinRunSeconds));
  for (const Contradiction& c : plan.contradictions) {
    if (c.cores == plan.cores && !is_of_runs(c)) return "predictions and measurements disagree";
  }
  return {};
}

std::string more_cores_recommendation(const Plan& plan) {
  const double share = plan.gain_per_s(plan.doubled_cores) / plan.current_capacity.rate_per_s.value;
  const std::string then = bottleneck_phrase(plan.doubled_cores, plan);
  if (share < 0.05) {
    return fmt::format("Do not add cores: with twice as many, {} would be the bottleneck, at {}",
                       then,
                       format_images_per_s(plan.current_capacity.rate_per_s.value * (1 + share)));
  }
  return fmt::format("Add cores: {} can reach {}{} times the rate of {}",
                     text::format_count(plan.doubled_cores.cores, "core"),
                     plan.scaling.is_known ? "" : "at most ", text::format_number(1 + share),
                     text::format_count(plan.cores, "core"));
}

std::string bottleneck_recommendation(const Plan& plan) {
  const std::string rate = format_images_per_s(plan.current_capacity.rate_per_s.value);
  if (plan.is_inconclusive()) {
    return fmt::format(
        "Inconclusive: no resource was saturated; {} can reach at least {}. Log a run of several "
        "minutes with more images",
        machine_phrase(plan, plan.cores, plan.gpus), rate);
  }
  const Resource bottleneck = *plan.current_capacity.bottleneck;
  if (!plan.baseline.saturated) {
    return fmt::format(
        "No new hardware needed: the peak of {} is {} of the capacity of {}, limited by {}",
        format_images_per_s(plan.peak_per_s),
        format_percent(plan.peak_per_s / plan.current_capacity.rate_per_s.value),
        machine_phrase(plan, plan.cores, plan.gpus), resource_phrase(bottleneck));
  }
  if (bottleneck == Resource::disk)
    return fmt::format("Do not add cores: the disk is the bottleneck, at {}; {}", rate,
                       kDiskLimitUnknown);
  if (bottleneck == Resource::cores) return more_cores_recommendation(plan);
  if (bottleneck == Resource::gpu) {
    const double gain = plan.one_more_gpu ? plan.gain_per_s(*plan.one_more_gpu) : 0;
    return fmt::format("Do not add cores: the GPU is the bottleneck, at {}; another GPU adds {}",
                       rate, format_percent(gain / plan.current_capacity.rate_per_s.value));
  }
  if (has_thread_setting(bottleneck)) {
    return fmt::format(
        "No new hardware needed yet: {} are the bottleneck, at {}; increase {} first",
        resource_phrase(bottleneck), rate,
        plan.gpus > 0 && bottleneck == Resource::compute
            ? "the number of lanes"
            : thread_setting_name(*stage_of(bottleneck)));
  }
  return fmt::format("Do not add cores: {} is the bottleneck, at {}, and runs as a single thread",
                     resource_phrase(bottleneck), rate);
}

}  // namespace

std::string recommendation_sentence(const Plan& plan) {
  const std::string problem = data_problem(plan);
  std::string recommendation = bottleneck_recommendation(plan);
  if (problem.empty()) return recommendation;
  return fmt::format("Unreliable logs: {}. Without that: {}", problem, recommendation);
}

}  // namespace eckart::capacity
