#include "capacity/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

namespace eckart::capacity {
namespace {

constexpr int kMostCores = 1024;
/// So many runs more than machines tell how much runs differ; what intervals do is no matter then.
constexpr double kEnoughRuns = 4;
/// Threads that were less busy say nothing of what a disk can do.
constexpr double kTellsOfDisk = 0.05;

Measured largest(const std::vector<Measured>& runs) {
  const Measured* best = &runs.front();
  for (const Measured& run : runs) {
    if (std::tie(run.cores, run.gpus) >= std::tie(best->cores, best->gpus)) best = &run;
  }
  return pooled(alike(runs, best->cores, best->gpus));
}

/// By the threads of its stages, cores and GPUs.
using Machine = std::vector<int>;
Machine machine_of(const Measured& run) {
  Machine machine = {run.cores, run.gpus};
  for (const StageDemand& stage : run.stages) machine.push_back(stage.workers);
  return machine;
}

/// The relative standard deviation of runs on the same machine, of all machines together.
double noise_of(const std::vector<Measured>& runs) {
  std::map<Machine, std::vector<double>> rates;
  for (const Measured& run : runs) {
    if (run.is_service) continue;  // what came differs
    const std::vector<Measured> same = alike(runs, run.cores, run.gpus);
    if (same.front().is_steady() != run.is_steady()) continue;
    rates[machine_of(run)].push_back(run.rate_per_s);
  }
  double squares = 0, degrees = 0;
  for (const auto& [machine, all] : rates) {
    double mean = 0;
    for (const double rate : all) mean += rate / double(all.size());
    for (const double rate : all) squares += std::pow(rate / mean - 1, 2);
    degrees += double(all.size() - 1);
  }
  const double between = degrees > 0 ? std::sqrt(squares / degrees) : 0;
  const double within = degrees < kEnoughRuns ? largest(runs).rate_error : 0;
  return std::max({kRunSpread, between, within});
}

/// The most that was seen of a disk for which threads waited, by the cores there; of runs on the
/// same machine the mean, and no less than any rate.
std::map<int, double> seen_of_disk(const std::vector<Measured>& runs) {
  std::map<std::pair<std::string, Machine>, std::vector<double>> rates;
  for (const Measured& run : runs) {
    for (const StageDemand& stage : run.stages) {
      if (!run.waits_for_disk(stage) || stage.busy < kTellsOfDisk) continue;
      const bool is_idle = run.is_service || stage.busy < kMostlyWaiting;
      const double busy = is_idle && stage.busy < kSaturated ? stage.busy : 1;
      rates[{stage.name, machine_of(run)}].push_back(run.rate_per_s / busy);
    }
  }
  std::map<std::string, std::map<int, double>> by_stage;
  for (const auto& [where, all] : rates) {
    double mean = 0;
    for (const double rate : all) mean += rate / double(all.size());
    double& seen = by_stage[where.first][where.second.front()];
    seen = std::max(seen, mean);
  }
  std::map<int, double> least;
  for (const auto& [stage, by_cores] : by_stage) {
    for (const auto& [cores, rate] : by_cores) {
      const auto found = least.try_emplace(cores, rate).first;
      found->second = std::min(found->second, rate);
    }
  }
  double most = 0;  // more cores do no less
  for (auto& [cores, rate] : least) {
    for (const Measured& run : runs) {
      if (run.cores > cores) continue;
      most = std::max(most, pooled(alike(runs, run.cores, run.gpus)).rate_per_s);
    }
    rate = most = std::max(most, rate);
  }
  return least;
}

}  // namespace

std::vector<Point> cost_points(const std::vector<Measured>& runs, double noise) {
  std::vector<Point> points;
  const bool is_one_place = std::ranges::all_of(
      runs, [&](const Measured& run) { return run.cores == runs.front().cores; });
  for (const Measured& run : runs) {
    const double cores = is_one_place ? run.cores : std::max(1.0, run.cores_used());
    points.push_back({cores, run.core_s(), std::hypot(noise, run.rate_error)});
  }
  return points;
}

Model::Model(const std::vector<Measured>& runs, std::map<std::string, int> fixed_threads)
    : present_(largest(runs)),
      noise_(noise_of(runs)),
      core_cost_(cost_points(runs, noise_)),
      fixed_threads_(std::move(fixed_threads)),
      disk_per_s_(seen_of_disk(runs)) {
  for (const Measured& run : runs) {
    was_gpu_saturated_ = was_gpu_saturated_ || run.gpu_share >= kSaturated;
    if (run.gpu_s) gpu_s_ = std::min(gpu_s_.value_or(*run.gpu_s), *run.gpu_s);
  }
}

Interval Model::about(double rate_per_s) const {
  const double half = std::min(0.9, 1.96 * noise_);
  return {rate_per_s, rate_per_s * (1 - half), rate_per_s * (1 + half)};
}

/// As `threads: auto` and the backends have it (app/options.cpp).
int Model::threads(const std::string& stage, int cores, int gpus) const {
  const auto fixed = fixed_threads_.find(stage);
  if (fixed != fixed_threads_.end()) return fixed->second;
  const auto here = std::ranges::find(present_.stages, stage, &StageDemand::name);
  const bool is_here = cores == present_.cores && gpus == present_.gpus;
  if (is_here && !present_.has_set_threads) return here->workers;
  if (stage == "load") return (cores + 1) / 2;
  if (stage == "write") return std::max(2, cores * 3 / 4);
  if (stage != "compute") return 1;
  if (present_.gpus == 0) return cores;
  return std::max(1, here->workers * gpus / present_.gpus);
}

/// A lane that waits for its GPU tells nothing of how many images it could take, unless lanes were
/// what limited; nor does a stage of which nothing is known but that it has no time to speak of.
bool Model::counts(const StageDemand& stage) const {
  if (present_.taken(stage) <= 0) return false;
  return stage.name != "compute" || present_.gpus == 0 || present_.saturated == "compute";
}

std::vector<Bound> Model::present_bounds() const {
  std::vector<Bound> bounds;
  const auto add = [&](const std::string& resource, int servers, double busy, bool is_at_least) {
    if (busy <= 0) return;
    const double rate = present_.rate_per_s;
    bounds.push_back(
        {resource, busy * servers / rate, servers, busy, about(rate / busy), is_at_least});
  };
  const StageDemand* waiting = nullptr;  // longest, for the disk
  for (const StageDemand& stage : present_.stages) {
    if (!present_.waits_for_disk(stage)) continue;
    if (!waiting || stage.busy > waiting->busy) waiting = &stage;
  }
  add("cores", present_.cores, present_.core_share, false);
  add("GPU", present_.gpus, present_.gpu_share, !was_gpu_saturated_);
  for (const StageDemand& stage : present_.stages) {
    const std::string resource = &stage == waiting ? "disk" : stage.name;
    if (counts(stage)) add(resource, stage.workers, present_.taken(stage), false);
  }
  std::ranges::stable_sort(bounds, [&](const Bound& a, const Bound& b) {
    const bool is_first = a.resource == present_.saturated;
    if (is_first != (b.resource == present_.saturated)) return is_first;
    return a.busy > b.busy;
  });
  return bounds;
}

std::vector<Bound> Model::bounds(int cores, int gpus) const {
  std::vector<Bound> bounds;
  const Interval cost = core_cost_.core_s(cores);
  bounds.push_back({.resource = "cores",
                    .demand_s = cost.value,
                    .servers = cores,
                    .rate_per_s = {cores / cost.value, cores / cost.high, cores / cost.low}});
  if (gpu_s_ && gpus > 0) {
    bounds.push_back({.resource = "GPU",
                      .demand_s = *gpu_s_,
                      .servers = gpus,
                      .rate_per_s = about(gpus / *gpu_s_),
                      .is_at_least = !was_gpu_saturated_});
  }
  if (!disk_per_s_.empty()) {
    const auto above = disk_per_s_.upper_bound(cores);
    const auto seen = above == disk_per_s_.begin() ? above : std::prev(above);
    bounds.push_back({.resource = "disk", .rate_per_s = about(seen->second), .is_at_least = true});
  }
  for (const StageDemand& stage : present_.stages) {
    if (!counts(stage) || present_.waits_for_disk(stage)) continue;
    const int workers = threads(stage.name, cores, gpus);
    double demand_s = present_.taken(stage) * stage.workers / present_.rate_per_s;
    // Fewer threads get in each other's way less. Of more it isn't said: that is in the cores'
    // bound.
    if (workers < stage.workers)
      demand_s *= std::min(1.0, cost.value / core_cost_.core_s(present_.cores).value);
    bounds.push_back({.resource = stage.name,
                      .demand_s = demand_s,
                      .servers = workers,
                      .rate_per_s = about(workers / demand_s)});
  }
  std::ranges::stable_sort(bounds, {}, [](const Bound& bound) { return bound.rate_per_s.value; });
  return bounds;
}

Prediction Model::predict(int cores, int gpus) const {
  const std::vector<Bound> all = bounds(cores, gpus);
  Prediction prediction{cores, gpus, all.front().rate_per_s, all.front().resource};
  for (const Bound& bound : all) {
    Interval& rate = prediction.rate_per_s;
    rate.low = std::min(rate.low, bound.rate_per_s.low);
    rate.high = std::min(rate.high, bound.rate_per_s.high);
  }
  return prediction;
}

Need Model::need(double rate_per_s, int gpus) const {
  Need need{.gpus = gpus};
  for (int cores = 1; cores <= kMostCores && !need.sure_cores; ++cores) {
    const Prediction prediction = predict(cores, gpus);
    if (!need.cores && prediction.rate_per_s.value >= rate_per_s) need.cores = cores;
    if (prediction.rate_per_s.low >= rate_per_s) need.sure_cores = cores;
  }
  if (!need.cores) need.limit = predict(kMostCores, gpus).limit;
  return need;
}

}  // namespace eckart::capacity
