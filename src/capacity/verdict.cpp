#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/figures.hpp"
#include "capacity/phrases.hpp"
#include "capacity/sentences.hpp"

namespace eckart::capacity {
namespace {

constexpr double kShortest_s = 2;  // of which much is beginning and end

/// Why these logs are not to be bought from; empty where they are sound.
std::string doubt_of(const Plan& plan) {
  const Contradiction* worst = nullptr;
  const auto is_of_runs = [](const Contradiction& c) { return c.predicted_per_s == 0; };
  const auto ratio = [](const Contradiction& c) { return c.high_per_s / c.low_per_s; };
  for (const Contradiction& c : plan.contradictions) {
    if (c.is_of_others) continue;
    if (is_of_runs(c) && (!worst || ratio(c) > ratio(*worst))) worst = &c;
  }
  if (worst) {
    return fmt::format("runs on {} differ by {}", counted(worst->cores, "core"),
                       percent(ratio(*worst) - 1));
  }
  if (plan.present.has_others_on_cores()) {
    return fmt::format("lanes took {} times their CPU time, so something else had the cores",
                       figure(plan.present.core_wait));
  }
  double longest_s = 0;
  for (const Measured& run : plan.runs) longest_s = std::max(longest_s, run.elapsed_s);
  if (longest_s < kShortest_s && !plan.is_too_little())
    return fmt::format("no run took {} s", figure(kShortest_s));
  for (const Contradiction& c : plan.contradictions) {
    if (c.cores == plan.cores && !is_of_runs(c))
      return "the predictions contradict what was measured";
  }
  return {};
}

std::string more_cores_verdict(const Plan& plan) {
  const double share = plan.gain_per_s(plan.twice_the_cores) / plan.here.rate_per_s.value;
  const std::string then = limit_in_words(plan.twice_the_cores, plan);
  if (share < 0.05) {
    return fmt::format("Buy no cores: with twice as many {} would limit, at {}", then,
                       images_per_s(plan.here.rate_per_s.value * (1 + share)));
  }
  return fmt::format("More cores help: {} do {}{} times what {} {}", plan.twice_the_cores.cores,
                     plan.scaling.is_known ? "" : "at most ", figure(1 + share), plan.cores,
                     plan.cores == 1 ? "does" : "do");
}

std::string verdict_of_limit(const Plan& plan) {
  const std::string& limit = plan.here.limit;
  const std::string rate = images_per_s(plan.here.rate_per_s.value);
  if (plan.is_too_little()) {
    return fmt::format(
        "Too little to tell: nothing was saturated; {} do at least {}. Log a longer run, of some "
        "minutes and many more images",
        machine_in_words(plan, plan.cores, plan.gpus), rate);
  }
  if (plan.present.saturated.empty()) {
    return fmt::format("Buy nothing yet: the peak of {} is {} of what {} can do, by {}",
                       images_per_s(plan.peak_per_s),
                       percent(plan.peak_per_s / plan.here.rate_per_s.value),
                       machine_in_words(plan, plan.cores, plan.gpus), in_words(limit));
  }
  if (limit == "disk")
    return fmt::format("Buy no cores: the disk limits, at {}; {}", rate, kDiskUnknown);
  if (limit == "cores") return more_cores_verdict(plan);
  if (limit == "GPU") {
    const double gain = plan.one_more_gpu ? plan.gain_per_s(*plan.one_more_gpu) : 0;
    return fmt::format("Buy no cores: the GPU limits, at {}; another brings {}", rate,
                       percent(gain / plan.here.rate_per_s.value));
  }
  if (is_auto_stage(limit)) {
    return fmt::format("Buy nothing yet: {} limit, at {}; raise {} first", in_words(limit), rate,
                       plan.gpus > 0 && limit == "compute" ? "their number" : setting_of(limit));
  }
  return fmt::format("Buy no cores: {} limits, at {}, and there is one alone", in_words(limit),
                     rate);
}

}  // namespace

std::string verdict_sentence(const Plan& plan) {
  const std::string doubt = doubt_of(plan);
  std::string verdict = verdict_of_limit(plan);
  if (doubt.empty()) return verdict;
  return fmt::format("Do not buy from this: {}. Otherwise: {}", doubt, verdict);
}

}  // namespace eckart::capacity
