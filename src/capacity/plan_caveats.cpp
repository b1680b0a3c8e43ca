#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "capacity/number_format.hpp"
#include "capacity/plan_answer.hpp"
#include "capacity/plan_options.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"

namespace eckart::capacity {
namespace {

using Caveats = std::vector<std::string>;

void add_selection(const Plan& plan, Caveats& caveats) {
  if (!plan.held_out_runs.empty()) {
    caveats.push_back(fmt::format(
        "{} on other numbers of cores: shown as measured, not used for predictions.",
        plan.held_out_runs.size() == 1 ? "1 run is"
                                       : fmt::format("{} runs are", plan.held_out_runs.size())));
  }
  if (plan.omitted_workloads > 0) {
    caveats.push_back(fmt::format(
        "{} no run with the numbers of cores of --fit-cores.",
        plan.omitted_workloads == 1
            ? "1 other kind of work in these logs has"
            : fmt::format("{} other kinds of work in these logs have", plan.omitted_workloads)));
  }
  if (plan.has_unsupported_gpu_request)
    caveats.push_back("These runs used no GPU, so --gpus is ignored.");
}

/// Runs that contradict each other or their prediction.
void add_contradictions(const Plan& plan, Caveats& caveats) {
  for (const Contradiction& c : plan.contradictions) {
    if (plan.is_recorded() && c.is_of_runs()) continue;  // their noise is a caveat
    const std::string cores = text::format_count(c.cores, "core");
    const std::string measured = c.low_per_s < c.high_per_s
                                     ? format_range({0, c.low_per_s, c.high_per_s})
                                     : text::format_number(c.low_per_s);
    caveats.push_back(c.is_of_runs()
                          ? fmt::format("Runs on {} had {} images/s: other programs or the disk "
                                        "disturbed some of them.",
                                        cores, measured)
                          : fmt::format("On {} the prediction is {}, but {} images/s were "
                                        "measured: other predictions may be wrong too.",
                                        cores, text::format_number(c.predicted_per_s), measured));
  }
}

void add_data_problem(const Plan& plan, Caveats& caveats) {
  if (plan.is_recorded()) return;
  const auto problem = data_problem(plan);
  const bool is_contention = plan.baseline.has_cpu_contention();
  if (is_contention) {
    caveats.push_back(
        fmt::format("Compute threads took {} times their CPU time, although eckart used only {} of "
                    "the core time.",
                    text::format_number(plan.baseline.cpu_contention_ratio),
                    format_percent(plan.baseline.core_utilization)));
  }
  if (!problem || answer(plan).names_problem) return;
  if (problem->is_rate_too_low) {
    caveats.push_back(fmt::format("The true rate may be higher: {}. What to do: {}.", problem->what,
                                  problem->remedy));
  } else {
    caveats.push_back(fmt::format("What to do: {}.", problem->remedy));
  }
}

void add_scaling(const Plan& plan, Caveats& caveats) {
  if (plan.scaling.is_known) return;
  std::vector<std::string> counts;
  for (const int cores : plan.scaling.cores) counts.push_back(std::to_string(cores));
  const std::string runs =
      counts.size() == 1
          ? "all runs were on " + text::format_count(plan.cores, "core")
          : fmt::format(
                "the runs on {} cores kept about {} busy", fmt::join(counts, ", "),
                text::format_count(std::lround(std::max(1.0, plan.baseline.cores_used())), "core"));
  caveats.push_back(
      fmt::format("How the rate grows with cores is not known, because {}.{}", runs,
                  plan.has_upper_bounds() ? " Rates marked 'at most' are upper bounds." : ""));
}

void add_limits(const Plan& plan, Caveats& caveats) {
  const bool has_disk_rows =
      std::ranges::count(plan.predictions, Resource::disk, &PredictionRow::bottleneck) > 0;
  if (has_disk_rows && plan.is_disk_guess()) {
    caveats.push_back(fmt::format("Rates marked 'about' follow from how long threads waited{}.",
                                  plan.baseline.has_cpu_contention() ? "" : " for the disk"));
  } else if (has_disk_rows && plan.current_capacity.bottleneck != Resource::disk) {
    caveats.push_back(fmt::format(
        "For the disk, rates are what these logs show; {}another durability or a "
        "faster disk may do more.",
        plan.baseline.has_explicit_threads() ? "more threads.load or threads.write, " : ""));
  }
  const bool has_steps = std::ranges::any_of(plan.predictions, [&](const PredictionRow& at) {
    return has_thread_setting(*at.bottleneck) &&
           !plan.fixed_threads.contains(*stage_of(*at.bottleneck));
  });
  if (has_steps)
    caveats.push_back("Where threads are the limit, rates grow in steps; threads are settings.");
  for (const auto& [stage, threads] : plan.fixed_threads) {
    if (std::ranges::count(plan.predictions, resource_of(stage), &PredictionRow::bottleneck) == 0)
      continue;
    caveats.push_back(fmt::format("{}={} was set in all runs and is a limit; try a higher value.",
                                  thread_setting_name(stage), threads));
  }
  if (plan.has_varying_threads)
    caveats.push_back("The runs had different thread settings; predictions assume 'auto'.");
  if (std::ranges::count(plan.bounds, true, &Bound::is_lower_bound) > 0)
    caveats.push_back("The GPU may do more: it counts as busy whenever any kernel runs.");
}

void add_load(const Plan& plan, Caveats& caveats) {
  if (plan.concurrent_runs) {
    const int most =
        std::ranges::max(plan.concurrent_runs->nodes, {}, &NodeRuns::most_at_once).most_at_once;
    if (most > 1) {
      caveats.push_back(fmt::format(
          "Up to {} runs shared a node. The rate of this machine is that of one run.", most));
    }
  }
  if (const auto& law = plan.baseline.littles_law) {
    constexpr double kMaxDifference = 0.25;
    const double expected = law->expected_unfinished(), found = law->mean_unfinished;
    if (std::abs(found - expected) > kMaxDifference * std::max(found, expected))
      caveats.push_back("The load was not steady while the logs were made.");
  }
  const bool is_short =
      !plan.is_recorded() &&
      std::ranges::all_of(plan.runs, [](const RunMeasurement& run) { return run.intervals == 0; });
  const auto problem = data_problem(plan);
  const bool is_short_named =
      problem && problem->is_rate_too_low && !plan.baseline.has_cpu_contention();
  if (is_short && !is_short_named)
    caveats.push_back("The runs were short, so the rates include start and end.");
  if (plan.noise > 1.01 * kRunNoise) {
    caveats.push_back(
        fmt::format("Equal runs, or parts of them, have a standard deviation of {}; the 95 % "
                    "intervals include that.",
                    format_percent(plan.noise)));
  }
}

void add_recorded_work(const Plan& plan, Caveats& caveats) {
  for (const PlanOption& option : plan.options) {
    if (option.recorded_work.empty()) continue;
    caveats.push_back(fmt::format("Recorded for other work, not measured here: {} ({}).",
                                  option.name, option.recorded_work));
  }
  if (plan.has_unlike_reference)
    caveats.push_back("--reference has no figures for images of about this size.");
}

void add_prices(const Plan& plan, Caveats& caveats) {
  if (!plan.request.prices) return;
  const Prices& prices = *plan.request.prices;
  caveats.push_back("Costs are in the currency of --price, for machines that are paid " +
                    text::format_number(plan.request.hours_per_month()) + " h a month.");
  bool has_gpu = false;
  for (const PlanOption& option : plan.options) has_gpu = has_gpu || option.gpus > 0;
  if (std::ranges::any_of(plan.options, [](const PlanOption& at) { return !at.cost_per_month; }))
    caveats.push_back(fmt::format("An option has no cost because --price has no {}=PRICE.",
                                  prices.gpu_h == 0 ? "gpu" : "core"));
  if (prices.kwh == 0) return;
  std::vector<std::string> assumed;
  if (!plan.request.watts) assumed.push_back(fmt::format("{:.0f} W a core", kDefaultCoreWatts));
  const bool is_gpu_known = plan.baseline.joules_per_image || (plan.request.watts && plan.gpus > 0);
  if (has_gpu && !is_gpu_known) assumed.push_back(fmt::format("{:.0f} W a GPU", kDefaultGpuWatts));
  if (assumed.empty()) return;
  caveats.push_back(fmt::format("Power is assumed, not measured: {}.{}", fmt::join(assumed, ", "),
                                plan.request.watts ? "" : " Use --watts."));
}

}  // namespace

std::vector<std::string> caveats(const Plan& plan) {
  Caveats caveats;
  if (plan.is_recorded()) {
    caveats.push_back(
        "These figures were recorded on another machine. Other images, settings, disks and cores "
        "give other rates: measure with eckart bench scaling.");
  }
  add_selection(plan, caveats);
  add_contradictions(plan, caveats);
  add_data_problem(plan, caveats);
  add_scaling(plan, caveats);
  add_limits(plan, caveats);
  add_load(plan, caveats);
  add_recorded_work(plan, caveats);
  add_prices(plan, caveats);
  return caveats;
}

}  // namespace eckart::capacity
