#include "capacity/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace eckart::capacity {
namespace {

std::optional<double> mean_rate_at(const std::vector<RunMeasurement>& runs, int cores, int gpus) {
  const std::vector<RunMeasurement> matching_runs = comparable_runs(runs, cores, gpus);
  if (matching_runs.empty() || matching_runs.front().is_service) return std::nullopt;
  return average_runs(matching_runs).rate_per_s;
}

/// Corrects the predictions so that more cores are never slower.
template <typename Predictions>
void make_nondecreasing(Predictions& predictions) {
  for (std::size_t i = 1; i < predictions.size(); ++i) {
    if (predictions[i].gpus != predictions[i - 1].gpus) continue;
    const Estimate& before = predictions[i - 1].rate_per_s;
    Estimate& rate = predictions[i].rate_per_s;
    rate = {std::max(rate.value, before.value), std::max(rate.low, before.low),
            std::max(rate.high, before.high)};
  }
}

std::vector<PredictionRow> predictions_of(const Plan& plan, const Model& model,
                                          const PlanRequest& request) {
  std::set<int> cores = {1, 2, 4, 8, 16, 32, 64}, gpus = {plan.gpus};
  cores.insert(request.cores.begin(), request.cores.end());
  for (const RunMeasurement& run : plan.runs) {
    cores.insert(run.cores);
    gpus.insert(run.gpus);
  }
  for (const RunMeasurement& run : plan.held_out_runs) cores.insert(run.cores);
  if (plan.gpus > 0) {
    gpus.insert(request.gpus.begin(), request.gpus.end());
    if (model.predict(*cores.rbegin(), plan.gpus).bottleneck == Resource::gpu)
      gpus.insert(2 * plan.gpus);
  }
  std::vector<PredictionRow> predictions;
  for (const int m : gpus) {
    const bool is_requested = m <= plan.gpus || std::ranges::count(request.gpus, m) > 0;
    for (const int n : cores) {
      PredictionRow at{model.predict(n, m), mean_rate_at(plan.runs, n, m)};
      const bool is_proportional = !plan.scaling.is_known && n > plan.cores;
      at.is_upper_bound =
          at.bottleneck != Resource::disk &&
          (plan.is_recorded()
               ? n > plan.cores
               : (plan.is_inconclusive() && !plan.is_within_measured(n, m, at.rate_per_s.value)) ||
                     is_proportional);
      if (at.is_upper_bound) {  // but not below the measured rate
        at.rate_per_s.value = std::max(at.rate_per_s.value, at.measured_per_s.value_or(0));
        at.rate_per_s.high = std::max(at.rate_per_s.high, at.rate_per_s.value);
      }
      const double rate_with_current_gpus = model.predict(n, plan.gpus).rate_per_s.value;
      if (is_requested || at.rate_per_s.value > 1.01 * rate_with_current_gpus)
        predictions.push_back(at);
    }
  }
  make_nondecreasing(predictions);
  for (PredictionRow& at : predictions) {
    if (!at.measured_per_s) at.measured_per_s = mean_rate_at(plan.held_out_runs, at.cores, at.gpus);
  }
  return predictions;
}

TargetResult evaluate_target(double rate_per_s, const Plan& plan, const Model& model) {
  const Estimate& capacity = plan.current_capacity.rate_per_s;
  TargetResult result{.rate_per_s = rate_per_s,
                      .headroom = capacity.value / rate_per_s - 1,
                      .requirements = {model.requirement(rate_per_s, plan.gpus)},
                      .machines = std::ceil(rate_per_s / capacity.value),
                      .conservative_machines = std::ceil(rate_per_s / capacity.low)};
  for (int gpus = plan.gpus + 1;
       result.requirements.back().bottleneck == Resource::gpu && gpus <= 64; ++gpus) {
    const Requirement more = model.requirement(rate_per_s, gpus);
    if (more.cores || more.bottleneck != Resource::gpu) result.requirements.push_back(more);
  }
  // The measured capacity of this machine takes precedence over its prediction.
  std::optional<int>& cores = result.requirements.front().cores;
  if (cores && result.headroom >= 0) cores = std::min(*cores, plan.cores);
  if (cores && result.headroom < 0) cores = std::max(*cores, plan.cores + 1);
  std::optional<int>& conservative_cores = result.requirements.front().conservative_cores;
  if (cores && conservative_cores) conservative_cores = std::max(*conservative_cores, *cores);
  return result;
}

}  // namespace

Prediction estimate_capacity(const Model& model) {
  const RunMeasurement& baseline = model.baseline();
  Prediction current_capacity{baseline.cores, baseline.gpus,
                              model.rate_estimate(baseline.rate_per_s), baseline.saturated};
  if (baseline.saturated) return current_capacity;
  const std::vector<Bound> bounds = model.baseline_bounds();
  if (baseline.is_service && baseline.is_steady() && !bounds.empty()) {
    current_capacity.rate_per_s = bounds.front().rate_per_s;
    current_capacity.bottleneck = bounds.front().resource;
    return current_capacity;
  }
  if (!bounds.empty()) current_capacity.rate_per_s.high = bounds.front().rate_per_s.high;
  return current_capacity;
}

void compute_predictions(const PlanRequest& request, const Model& model, Plan& plan) {
  plan.predictions = predictions_of(plan, model, request);
  int max_cores = std::max(8, 4 * plan.cores);
  for (const RunMeasurement& run : plan.held_out_runs) max_cores = std::max(max_cores, run.cores);
  const int step = (max_cores + 63) / 64;
  for (int n = 1; n <= max_cores; n += step) plan.curve.push_back(model.predict(n, plan.gpus));
  make_nondecreasing(plan.curve);
  if (request.images)
    plan.images_duration_s = *request.images / plan.current_capacity.rate_per_s.value;
  if (request.target_per_s) plan.target = evaluate_target(*request.target_per_s, plan, model);
}

}  // namespace eckart::capacity
