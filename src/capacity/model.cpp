#include "capacity/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/default_threads.hpp"
#include "core/student_t.hpp"

namespace eckart::capacity {
namespace {

/// If there are at least this many repeated runs, the noise is estimated from the runs alone,
/// without the spread of their intervals.
constexpr double kMinRepeatedRuns = 4;
/// If threads were less busy than this, their rate does not show the limit of the disk.
constexpr double kMinDiskUtilization = 0.05;

RunMeasurement largest_machine_run(const std::vector<RunMeasurement>& runs) {
  const RunMeasurement* best = &runs.front();
  for (const RunMeasurement& run : runs) {
    if (std::tie(run.cores, run.gpus) >= std::tie(best->cores, best->gpus)) best = &run;
  }
  return average_runs(comparable_runs(runs, best->cores, best->gpus));
}

/// Cores, GPUs and thread settings.
using MachineConfig = std::tuple<int, int, std::vector<std::string>>;
MachineConfig machine_config(const RunMeasurement& run) {
  return {run.cores, run.gpus, run.thread_settings};
}

/// Returns the relative standard deviation of runs on the same machine, pooled over all machines.
double estimate_noise(const std::vector<RunMeasurement>& runs) {
  std::map<MachineConfig, std::vector<double>> rates;
  for (const RunMeasurement& run : runs) {
    if (run.is_service) continue;  // its rate depends on the arrivals
    const std::vector<RunMeasurement> same = comparable_runs(runs, run.cores, run.gpus);
    if (same.front().is_steady() != run.is_steady()) continue;
    rates[machine_config(run)].push_back(run.rate_per_s);
  }
  double squares = 0, degrees = 0;
  for (const auto& [machine, all] : rates) {
    double mean = 0;
    for (const double rate : all) mean += rate / double(all.size());
    for (const double rate : all) squares += std::pow(rate / mean - 1, 2);
    degrees += double(all.size() - 1);
  }
  const double between = degrees > 0 ? std::sqrt(squares / degrees) : 0;
  const double within =
      degrees < kMinRepeatedRuns ? largest_machine_run(runs).rate_standard_error : 0;
  return std::max({kRunNoise, between, within});
}

/// Returns, by number of cores, the highest observed rate of a disk that threads waited for. Runs
/// on the same machine are averaged. The result does not decrease with the cores.
std::map<int, double> max_observed_disk_rates(const std::vector<RunMeasurement>& runs) {
  std::map<std::pair<Stage, MachineConfig>, std::vector<double>> rates;
  for (const RunMeasurement& run : runs) {
    for (const StageUtilization& stage : run.stages) {
      if (!run.is_waiting_for_disk(stage) || stage.utilization < kMinDiskUtilization) continue;
      const bool is_idle = run.is_service || stage.utilization < kDiskSaturationThreshold;
      const double utilization =
          is_idle && stage.utilization < kSaturationThreshold ? stage.utilization : 1;
      rates[{stage.stage, machine_config(run)}].push_back(run.rate_per_s / utilization);
    }
  }
  std::map<Stage, std::map<int, double>> by_stage;
  for (const auto& [where, all] : rates) {
    double mean = 0;
    for (const double rate : all) mean += rate / double(all.size());
    double& seen = by_stage[where.first][std::get<0>(where.second)];
    seen = std::max(seen, mean);
  }
  std::map<int, double> lowest_rates;
  for (const auto& [stage, by_cores] : by_stage) {
    for (const auto& [cores, rate] : by_cores) {
      const auto found = lowest_rates.try_emplace(cores, rate).first;
      found->second = std::min(found->second, rate);
    }
  }
  double max_rate = 0;  // more cores are not slower
  for (auto& [cores, rate] : lowest_rates) {
    for (const RunMeasurement& run : runs) {
      if (run.cores > cores) continue;
      max_rate =
          std::max(max_rate, average_runs(comparable_runs(runs, run.cores, run.gpus)).rate_per_s);
    }
    rate = max_rate = std::max(max_rate, rate);
  }
  return lowest_rates;
}

}  // namespace

std::vector<ScalingPoint> cost_points(const std::vector<RunMeasurement>& runs, double noise) {
  std::vector<ScalingPoint> points;
  const bool has_one_core_count = std::ranges::all_of(
      runs, [&](const RunMeasurement& run) { return run.cores == runs.front().cores; });
  for (const RunMeasurement& run : runs) {
    const double cores = has_one_core_count ? run.cores : std::max(1.0, run.cores_used());
    points.push_back({cores, run.core_s_per_image(), std::hypot(noise, run.rate_standard_error)});
  }
  return points;
}

Model::Model(const std::vector<RunMeasurement>& runs, std::map<Stage, int> fixed_threads)
    : baseline_(largest_machine_run(runs)),
      noise_(estimate_noise(runs)),
      core_cost_(cost_points(runs, noise_)),
      fixed_thread_counts_(std::move(fixed_threads)),
      max_disk_rate_per_s_(max_observed_disk_rates(runs)) {
  for (const RunMeasurement& run : runs) {
    was_gpu_saturated_ = was_gpu_saturated_ || run.gpu_utilization >= kSaturationThreshold;
    if (run.gpu_s_per_image)
      gpu_s_ = std::min(gpu_s_.value_or(*run.gpu_s_per_image), *run.gpu_s_per_image);
  }
}

Estimate Model::rate_estimate(double rate_per_s) const {
  const double half = std::min(0.9, kNormalQuantile975 * noise_);
  return {rate_per_s, rate_per_s * (1 - half), rate_per_s * (1 + half)};
}

/// The most threads of `threads: auto`, and the defaults of the backends
/// (core/default_threads.hpp).
int Model::threads(Stage stage, int cores, int gpus) const {
  const auto fixed = fixed_thread_counts_.find(stage);
  if (fixed != fixed_thread_counts_.end()) return fixed->second;
  const auto baseline_stage = std::ranges::find(baseline_.stages, stage, &StageUtilization::stage);
  const int baseline_workers = int(std::lround(baseline_stage->workers));
  const bool is_here = cores == baseline_.cores && gpus == baseline_.gpus;
  const bool is_auto = !baseline_.has_explicit_threads();
  if (is_auto && is_here && stage == Stage::compute) return baseline_workers;
  if (stage == Stage::load || stage == Stage::write) {
    // A saturated stage had as many threads as made it faster.
    const bool has_most = is_auto && baseline_.saturated == resource_of(stage);
    return has_most ? std::max(1, baseline_workers * cores / baseline_.cores)
                    : std::max(is_here ? baseline_workers : 1, max_auto_threads(cores));
  }
  if (stage != Stage::compute) return 1;
  if (baseline_.gpus == 0) return default_cpu_lanes(cores);
  return std::max(1, baseline_workers * gpus / baseline_.gpus);
}

/// If the lanes of a GPU were not the bottleneck, their waiting time does not show how many images
/// they could process. A stage without measured time cannot be the bottleneck either.
bool Model::can_be_bottleneck(const StageUtilization& stage) const {
  if (baseline_.stage_utilization(stage) <= 0) return false;
  return stage.stage != Stage::compute || baseline_.gpus == 0 ||
         baseline_.saturated == Resource::compute;
}

std::vector<Bound> Model::baseline_bounds() const {
  std::vector<Bound> bounds;
  // `growth`: how many times as many servers there may be.
  const auto add = [&](Resource resource, double servers, double utilization, bool is_lower_bound,
                       double growth = 1) {
    if (utilization <= 0) return;
    const double rate = baseline_.rate_per_s;
    bounds.push_back({resource, utilization * servers / rate, int(std::lround(servers)),
                      utilization, rate_estimate(growth * rate / utilization), is_lower_bound});
  };
  const StageUtilization* waiting = nullptr;  // the stage that waits for the disk the most
  for (const StageUtilization& stage : baseline_.stages) {
    if (!baseline_.is_waiting_for_disk(stage)) continue;
    if (!waiting || stage.utilization > waiting->utilization) waiting = &stage;
  }
  add(Resource::cores, baseline_.cores, baseline_.core_utilization, false);
  add(Resource::gpu, baseline_.gpus, baseline_.gpu_utilization, !was_gpu_saturated_);
  for (const StageUtilization& stage : baseline_.stages) {
    const Resource resource = &stage == waiting ? Resource::disk : resource_of(stage.stage);
    if (!can_be_bottleneck(stage)) continue;
    const bool may_grow = !baseline_.has_explicit_threads() && resource != baseline_.saturated &&
                          resource != Resource::disk;
    const double growth =
        may_grow ? threads(stage.stage, baseline_.cores, baseline_.gpus) / stage.workers : 1;
    add(resource, stage.workers, baseline_.stage_utilization(stage), false, growth);
  }
  std::ranges::stable_sort(bounds, [&](const Bound& a, const Bound& b) {
    const bool is_first = a.resource == baseline_.saturated;
    if (is_first != (b.resource == baseline_.saturated)) return is_first;
    return a.rate_per_s.value < b.rate_per_s.value;
  });
  return bounds;
}

std::vector<Bound> Model::bounds(int cores, int gpus) const {
  std::vector<Bound> bounds;
  const Estimate cost = core_cost_.core_s_per_image(cores);
  bounds.push_back({.resource = Resource::cores,
                    .demand_s = cost.value,
                    .servers = cores,
                    .rate_per_s = {cores / cost.value, cores / cost.high, cores / cost.low}});
  if (gpu_s_ && gpus > 0) {
    bounds.push_back({.resource = Resource::gpu,
                      .demand_s = *gpu_s_,
                      .servers = gpus,
                      .rate_per_s = rate_estimate(gpus / *gpu_s_),
                      .is_lower_bound = !was_gpu_saturated_});
  }
  if (!max_disk_rate_per_s_.empty()) {
    const auto above = max_disk_rate_per_s_.upper_bound(cores);
    const auto seen = above == max_disk_rate_per_s_.begin() ? above : std::prev(above);
    bounds.push_back({.resource = Resource::disk,
                      .rate_per_s = rate_estimate(seen->second),
                      .is_lower_bound = true});
  }
  for (const StageUtilization& stage : baseline_.stages) {
    if (!can_be_bottleneck(stage) || baseline_.is_waiting_for_disk(stage)) continue;
    const int workers = threads(stage.stage, cores, gpus);
    double demand_s = baseline_.stage_utilization(stage) * stage.workers / baseline_.rate_per_s;
    // Fewer threads contend less. The contention of more threads is part of the bound of the cores.
    if (workers < stage.workers)
      demand_s *= std::min(1.0, cost.value / core_cost_.core_s_per_image(baseline_.cores).value);
    bounds.push_back({.resource = resource_of(stage.stage),
                      .demand_s = demand_s,
                      .servers = workers,
                      .rate_per_s = rate_estimate(workers / demand_s)});
  }
  std::ranges::stable_sort(bounds, {}, [](const Bound& bound) { return bound.rate_per_s.value; });
  return bounds;
}

Prediction Model::predict(int cores, int gpus) const {
  const std::vector<Bound> all = bounds(cores, gpus);
  Prediction prediction{cores, gpus, all.front().rate_per_s, all.front().resource};
  for (const Bound& bound : all) {
    Estimate& rate = prediction.rate_per_s;
    rate.low = std::min(rate.low, bound.rate_per_s.low);
    rate.high = std::min(rate.high, bound.rate_per_s.high);
  }
  return prediction;
}

Requirement Model::requirement(double rate_per_s, int gpus) const {
  Requirement requirement{.gpus = gpus};
  for (int cores = 1; cores <= kMaxCores && !requirement.conservative_cores; ++cores) {
    const Prediction prediction = predict(cores, gpus);
    if (!requirement.cores && prediction.rate_per_s.value >= rate_per_s) requirement.cores = cores;
    if (prediction.rate_per_s.low >= rate_per_s) requirement.conservative_cores = cores;
  }
  if (!requirement.cores) requirement.bottleneck = predict(kMaxCores, gpus).bottleneck;
  return requirement;
}

}  // namespace eckart::capacity
