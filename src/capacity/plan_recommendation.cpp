#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/number_format.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"

namespace eckart::capacity {
namespace {

constexpr double kMinRunSeconds = 2;  // of which much is beginning and end

/// Why these logs are not to be bought from; empty where they are sound.
std::string data_problem(const Plan& plan) {
  const Contradiction* worst = nullptr;
  const auto is_of_runs = [](const Contradiction& c) { return c.predicted_per_s == 0; };
  const auto ratio = [](const Contradiction& c) { return c.high_per_s / c.low_per_s; };
  for (const Contradiction& c : plan.contradictions) {
    if (c.is_held_out) continue;
    if (is_of_runs(c) && (!worst || ratio(c) > ratio(*worst))) worst = &c;
  }
  if (worst) {
    return fmt::format("runs on {} differ by {}", format_count(worst->cores, "core"),
                       format_percent(ratio(*worst) - 1));
  }
  if (plan.baseline.has_cpu_contention()) {
    return fmt::format("lanes took {} times their CPU time, so something else had the cores",
                       format_number(plan.baseline.cpu_contention_ratio));
  }
  double longest_s = 0;
  for (const RunMeasurement& run : plan.runs) longest_s = std::max(longest_s, run.elapsed_s);
  if (longest_s < kMinRunSeconds && !plan.is_inconclusive())
    return fmt::format("no run took {} s", format_number(kMinRunSeconds));
  for (const Contradiction& c : plan.contradictions) {
    if (c.cores == plan.cores && !is_of_runs(c))
      return "the predictions contradict what was measured";
  }
  return {};
}

std::string more_cores_recommendation(const Plan& plan) {
  const double share = plan.gain_per_s(plan.doubled_cores) / plan.current_capacity.rate_per_s.value;
  const std::string then = bottleneck_phrase(plan.doubled_cores, plan);
  if (share < 0.05) {
    return fmt::format("Buy no cores: with twice as many {} would limit, at {}", then,
                       format_images_per_s(plan.current_capacity.rate_per_s.value * (1 + share)));
  }
  return fmt::format("More cores help: {} do {}{} times what {} {}", plan.doubled_cores.cores,
                     plan.scaling.is_known ? "" : "at most ", format_number(1 + share), plan.cores,
                     plan.cores == 1 ? "does" : "do");
}

std::string bottleneck_recommendation(const Plan& plan) {
  const std::string& bottleneck = plan.current_capacity.bottleneck;
  const std::string rate = format_images_per_s(plan.current_capacity.rate_per_s.value);
  if (plan.is_inconclusive()) {
    return fmt::format(
        "Too little to tell: nothing was saturated; {} do at least {}. Log a longer run, of some "
        "minutes and many more images",
        machine_phrase(plan, plan.cores, plan.gpus), rate);
  }
  if (plan.baseline.saturated.empty()) {
    return fmt::format("Buy nothing yet: the peak of {} is {} of what {} can do, by {}",
                       format_images_per_s(plan.peak_per_s),
                       format_percent(plan.peak_per_s / plan.current_capacity.rate_per_s.value),
                       machine_phrase(plan, plan.cores, plan.gpus), resource_phrase(bottleneck));
  }
  if (bottleneck == "disk")
    return fmt::format("Buy no cores: the disk limits, at {}; {}", rate, kDiskLimitUnknown);
  if (bottleneck == "cores") return more_cores_recommendation(plan);
  if (bottleneck == "GPU") {
    const double gain = plan.one_more_gpu ? plan.gain_per_s(*plan.one_more_gpu) : 0;
    return fmt::format("Buy no cores: the GPU limits, at {}; another brings {}", rate,
                       format_percent(gain / plan.current_capacity.rate_per_s.value));
  }
  if (has_thread_setting(bottleneck)) {
    return fmt::format("Buy nothing yet: {} limit, at {}; raise {} first",
                       resource_phrase(bottleneck), rate,
                       plan.gpus > 0 && bottleneck == "compute" ? "their number"
                                                                : thread_setting_name(bottleneck));
  }
  return fmt::format("Buy no cores: {} limits, at {}, and there is one alone",
                     resource_phrase(bottleneck), rate);
}

}  // namespace

std::string recommendation_sentence(const Plan& plan) {
  const std::string problem = data_problem(plan);
  std::string recommendation = bottleneck_recommendation(plan);
  if (problem.empty()) return recommendation;
  return fmt::format("Do not buy from this: {}. Otherwise: {}", problem, recommendation);
}

}  // namespace eckart::capacity
