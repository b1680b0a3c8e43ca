#include "capacity/model.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace eckart::capacity {
namespace {

constexpr int kMostCores = 1024;

const Measured& largest(const std::vector<Measured>& runs) {
  const Measured* best = &runs.front();
  for (const Measured& run : runs) {
    if (std::tie(run.cores, run.gpus) >= std::tie(best->cores, best->gpus)) best = &run;
  }
  return *best;
}

std::vector<Point> cost_points(const std::vector<Measured>& runs) {
  std::vector<Point> points;
  points.reserve(runs.size());
  for (const Measured& run : runs) {
    points.push_back({run.cores_used(), run.core_s(), std::hypot(kRunSpread, run.rate_error)});
  }
  return points;
}

/// With the shortest wait of all runs: what is more of it was for a core, or for others.
std::vector<StageDemand> stage_demands(const std::vector<Measured>& runs, const Measured& present) {
  std::vector<StageDemand> stages = present.stages;
  for (StageDemand& stage : stages) {
    for (const Measured& run : runs) {
      for (const StageDemand& other : run.stages) {
        if (other.name != stage.name || !other.wait_s) continue;
        stage.wait_s = std::min(stage.wait_s.value_or(*other.wait_s), *other.wait_s);
      }
    }
  }
  return stages;
}

/// What is known no better than runs are alike.
Interval about(double rate_per_s) {
  constexpr double kHalf = 1.96 * kRunSpread;
  return {rate_per_s, rate_per_s * (1 - kHalf), rate_per_s * (1 + kHalf)};
}

}  // namespace

Model::Model(const std::vector<Measured>& runs, std::map<std::string, int> fixed_threads)
    : present_(largest(runs)),
      core_cost_(cost_points(runs)),
      core_cost_here_s_(core_cost_.core_s(present_.cores_used()).value),
      fixed_threads_(std::move(fixed_threads)),
      stages_(stage_demands(runs, present_)) {
  for (const Measured& run : runs) {
    was_gpu_saturated_ = was_gpu_saturated_ || run.gpu_share >= kSaturated;
    if (run.gpu_s) gpu_s_ = std::min(gpu_s_.value_or(*run.gpu_s), *run.gpu_s);
  }
}

/// As `threads: auto` and the backends have it (app/options.cpp).
int Model::threads(const std::string& stage, int cores, int gpus) const {
  const auto fixed = fixed_threads_.find(stage);
  if (fixed != fixed_threads_.end()) return fixed->second;
  if (stage == "load") return (cores + 1) / 2;
  if (stage == "write") return std::max(2, cores * 3 / 4);
  if (stage != "compute") return 1;
  if (present_.gpus == 0) return cores;
  const auto lanes = std::ranges::find(stages_, "compute", &StageDemand::name)->workers;
  return std::max(1, lanes * gpus / present_.gpus);
}

/// A lane that waits for its GPU tells nothing of how many images it could take, unless lanes were
/// what limited; nor does a stage of which nothing is known but that it has no time to speak of.
bool Model::counts(const StageDemand& stage) const {
  if (stage.cpu_s + stage.wait_s.value_or(0) <= 0) return false;
  if (stage.name != "compute" || present_.gpus == 0) return true;
  return stage.wait_s && present_.saturated == "compute";
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
  // Shared memory, caches and clocks cost a stage what they cost all.
  const double growth = cost.value / core_cost_here_s_;
  for (const StageDemand& stage : stages_) {
    if (!counts(stage)) continue;
    const int workers = threads(stage.name, cores, gpus);
    const double demand_s = stage.cpu_s * growth + stage.wait_s.value_or(0);
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
