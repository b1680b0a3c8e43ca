#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "capacity/figures.hpp"
#include "capacity/phrases.hpp"
#include "capacity/sentences.hpp"

namespace eckart::capacity {

std::vector<std::string> notes(const Plan& plan) {
  std::vector<std::string> notes;
  if (!plan.others.empty()) {
    notes.push_back(fmt::format(
        "{} on other cores: what they did is shown as measured, and known to no prediction",
        plan.others.size() == 1 ? "1 run is" : fmt::format("{} runs are", plan.others.size())));
  }
  if (plan.kinds_left_out > 0) {
    notes.push_back(fmt::format("of {} in these logs no run is on the cores to predict from",
                                plan.kinds_left_out == 1
                                    ? "another kind of work"
                                    : fmt::format("{} other kinds of work", plan.kinds_left_out)));
  }
  for (const Contradiction& c : plan.contradictions) {
    const std::string cores = counted(c.cores, "core");
    if (c.predicted_per_s == 0) {
      notes.push_back(fmt::format(
          "runs on {} had {} images/s, {} apart: something else worked on this machine, or the "
          "disk; do not buy from this",
          cores, between({0, c.low_per_s, c.high_per_s}), percent(c.high_per_s / c.low_per_s - 1)));
    } else {
      notes.push_back(fmt::format(
          "on {} {} are predicted, and {} were measured: what is said of other cores is in doubt",
          cores, images_per_s(c.predicted_per_s),
          c.low_per_s < c.high_per_s ? between({0, c.low_per_s, c.high_per_s})
                                     : figure(c.low_per_s)));
    }
  }
  if (plan.present.has_others_on_cores()) {
    notes.push_back(fmt::format(
        "lanes took {} times their CPU time while this process left {} of the cores' time: "
        "something else worked on this machine; do not buy from this",
        figure(plan.present.core_wait), percent(1 - plan.present.core_share)));
  }
  if (plan.noise > 1.01 * kRunSpread) {
    notes.push_back(
        fmt::format("runs on the same cores, or their parts, differ by {}, and the 95 % "
                    "intervals are as wide as that makes them",
                    percent(plan.noise)));
  }
  const bool has_disk =
      std::ranges::any_of(plan.predictions, [](const Predicted& at) { return at.limit == "disk"; });
  if (has_disk && plan.here.limit != "disk") notes.push_back(kDiskUnknown);
  const bool has_steps = std::ranges::any_of(plan.predictions, [&](const Predicted& at) {
    return is_auto_stage(at.limit) && !plan.fixed_threads.contains(at.limit);
  });
  if (has_steps) {
    notes.push_back(
        "where threads limit, the rates have steps, since there are whole threads; their number is "
        "a setting");
  }
  for (const auto& [stage, threads] : plan.fixed_threads) {
    if (std::ranges::count(plan.predictions, stage, &Predicted::limit) == 0) continue;
    notes.push_back(fmt::format("{}={} was set in all runs, and limits; it could be raised",
                                setting_of(stage), threads));
  }
  if (plan.has_useless_gpus) {
    notes.push_back("these runs used no GPU, so nothing can be said of rates with --gpus");
  }
  for (const Bound& bound : plan.bounds) {
    if (!bound.is_at_least) continue;
    notes.push_back(
        "what the GPU could do is a lower bound: NVML calls it busy when a kernel runs, however "
        "little of it that fills");
  }
  if (plan.varies_threads) {
    notes.push_back(
        "the runs set their threads differently; the rates are for as many as auto has for the "
        "cores");
  }
  const bool is_short =
      std::ranges::all_of(plan.runs, [](const Measured& run) { return run.intervals == 0; });
  if (is_short) {
    notes.push_back(
        "the runs were too short for their intervals: the rates have their beginning and end in "
        "them; a few minutes tell more");
  }
  return notes;
}

}  // namespace eckart::capacity
