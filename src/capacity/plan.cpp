#include "capacity/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include "capacity/plan_options.hpp"
#include "capacity/plan_phrases.hpp"
#include "capacity/predictions.hpp"
#include "capacity/workload.hpp"

namespace eckart::capacity {
namespace {

/// Returns the number of threads of a stage if the setting is the same in every run.
std::optional<int> fixed_threads(const std::vector<LoggedRun>& runs, const std::string& setting) {
  std::optional<int> common;
  for (const LoggedRun& run : runs) {
    const auto found = run.settings.find(setting);
    if (found == run.settings.end()) return std::nullopt;
    const std::string& text = found->second;
    int threads = 0;
    std::from_chars(text.data(), text.data() + text.size(), threads);
    if (threads < 1 || threads != common.value_or(threads)) return std::nullopt;
    common = threads;
  }
  return common;
}

std::map<Stage, int> fixed_threads(const std::vector<LoggedRun>& runs) {
  std::map<Stage, int> fixed;
  const auto fix = [&](Stage stage) {
    if (const auto threads = fixed_threads(runs, thread_setting_name(stage)))
      fixed[stage] = *threads;
  };
  fix(Stage::load);
  fix(Stage::write);
  if (runs.front().gpus.empty()) fix(Stage::compute);
  return fixed;
}

/// Returns the rates, by cores, of runs whose number of images is proportional to their cores
/// (Gustafson). Uses the largest set of runs with the same ratio; `eckart bench scaling` makes such
/// runs beside others.
std::vector<ScalingPoint> gustafson_points(const std::vector<RunMeasurement>& runs) {
  const auto images_per_core = [](const RunMeasurement& run) {
    return double(run.images) / run.cores;
  };
  std::vector<ScalingPoint> largest_set;
  for (const RunMeasurement& first : runs) {
    std::vector<ScalingPoint> points;
    for (const RunMeasurement& run : runs) {
      if (std::abs(images_per_core(run) / images_per_core(first) - 1) > 0.2) continue;
      points.push_back({double(run.cores), double(run.images) / run.elapsed_s,
                        std::hypot(kRunNoise, run.rate_standard_error)});
    }
    if (points.size() > largest_set.size() && fit_line(points)) largest_set = points;
  }
  return largest_set;
}

ScalingAnalysis analyze_scaling(const std::vector<RunMeasurement>& runs, const Model& model) {
  ScalingAnalysis scaling;
  const CoreCost& cost = model.core_cost();
  scaling.is_known = cost.is_known();
  std::set<int> cores;
  for (const RunMeasurement& run : runs) {
    cores.insert(run.cores);
  }
  scaling.cores.assign(cores.begin(), cores.end());
  if (!scaling.is_known) return scaling;
  scaling.measured = fit_line(cost_points(runs, model.noise()));
  if (scaling.measured) {
    Estimate& ratio = scaling.measured->ratio;
    const bool is_meaningful = ratio.high <= 1 && ratio.high >= 0;
    ratio = {std::max(0.0, ratio.value), std::max(0.0, ratio.low), ratio.high};
    if (!is_meaningful) scaling.measured.reset();
  }
  scaling.serial_fraction = cost.serial_fraction();
  const auto scaled =
      // Amdahl's serial part, as a share of the time of a run on n cores.
      [&](double serial_fraction) {
        const double n = scaling.cores.back();
        return serial_fraction * amdahl_speedup(serial_fraction, n);
      };
  const Estimate& s = scaling.serial_fraction;
  scaling.gustafson_serial_fraction = {scaled(s.value), scaled(s.low), scaled(s.high)};
  const std::vector<ScalingPoint> gustafson_runs_points = gustafson_points(runs);
  if (const auto line =
          gustafson_runs_points.empty() ? std::nullopt : fit_line(gustafson_runs_points)) {
    const Estimate& r = line->ratio;
    scaling.gustafson_serial_fraction = {std::max(0.0, 1 - r.value), std::max(0.0, 1 - r.high),
                                         std::max(0.0, 1 - r.low)};
    scaling.gustafson_runs = int(gustafson_runs_points.size());
  }
  scaling.is_gustafson_known = scaling.gustafson_runs > 0
                                   ? scaling.gustafson_serial_fraction.high <= 1
                                   : scaling.measured.has_value();
  if (!scaling.measured) return scaling;
  for (const int n : {2, 4, 8, 16, 32, 64}) {
    const auto amdahl = [&](double serial_fraction) { return amdahl_speedup(serial_fraction, n); };
    scaling.speedups.push_back({n,
                                {amdahl(s.value), amdahl(s.high), amdahl(s.low)},
                                gustafson_speedup(scaling.gustafson_serial_fraction.value, n)});
  }
  return scaling;
}

/// Finds runs on the same cores, or a run and its prediction, that differ by more than noise
/// explains.
std::vector<Contradiction> find_contradictions(const Plan& plan) {
  constexpr double kMaxDeviation = 0.15;
  std::vector<Contradiction> all;
  for (const PredictionRow& at : plan.predictions) {
    if (!at.measured_per_s) continue;
    std::map<std::vector<std::string>, std::pair<double, double>> rates;  // by thread settings
    std::vector<RunMeasurement> matching_runs = comparable_runs(plan.runs, at.cores, at.gpus);
    const bool is_held_out = matching_runs.empty();
    if (is_held_out) matching_runs = comparable_runs(plan.held_out_runs, at.cores, at.gpus);
    for (const RunMeasurement& run : matching_runs) {
      if (run.rate_standard_error > kMaxDeviation) continue;  // its own intervals differ as much
      auto& [low, high] =
          rates.try_emplace(run.thread_settings, run.rate_per_s, run.rate_per_s).first->second;
      low = std::min(low, run.rate_per_s);
      high = std::max(high, run.rate_per_s);
    }
    for (const auto& [threads, rate] : rates) {
      if (rate.second > (1 + kMaxDeviation) * rate.first)
        all.push_back({at.cores, 0, rate.first, rate.second, is_held_out});
    }
    const double deviation = at.rate_per_s.value / *at.measured_per_s - 1;
    const bool may_be_lower = at.is_upper_bound || plan.is_inconclusive();  // nothing was busy
    const bool differs =
        may_be_lower ? deviation < -kMaxDeviation : std::abs(deviation) > kMaxDeviation;
    if (!differs) continue;
    const auto [slowest, fastest] =
        std::ranges::minmax(matching_runs, std::less<>(), &RunMeasurement::rate_per_s);
    all.push_back(
        {at.cores, at.rate_per_s.value, slowest.rate_per_s, fastest.rate_per_s, is_held_out});
  }
  return all;
}

std::vector<RunMeasurement> measure_runs(const std::vector<LoggedRun>& runs) {
  std::vector<RunMeasurement> measured;
  measured.reserve(runs.size());
  for (const LoggedRun& run : runs) measured.push_back(measure(run));
  return measured;
}

/// Removes and returns the runs whose number of cores is not in `fit_cores`.
std::vector<LoggedRun> extract_held_out_runs(WorkloadRuns& group,
                                             const std::vector<int>& fit_cores) {
  if (fit_cores.empty()) return {};
  const auto held_out_runs = std::stable_partition(
      group.runs.begin(), group.runs.end(),
      [&](const LoggedRun& run) { return std::ranges::count(fit_cores, run.cores) > 0; });
  std::vector<LoggedRun> extracted(held_out_runs, group.runs.end());
  group.runs.erase(held_out_runs, group.runs.end());
  return extracted;
}

Plan make_plan(const WorkloadRuns& group, const std::vector<LoggedRun>& held_out_runs,
               const PlanRequest& request) {
  const std::vector<RunMeasurement> measured = measure_runs(group.runs);
  const std::map<Stage, int> fixed = fixed_threads(group.runs);
  const Model model(measured, fixed);
  const RunMeasurement& baseline = model.baseline();
  const LoggedRun& run = *std::ranges::find(group.runs, baseline.run, &LoggedRun::id);
  const double output_bytes = group.workload.output_bytes_per_image;
  Plan plan{.request = request,
            .host = run.host,
            .cpu = run.cpu,
            .backend = run.backend,
            .device = run.device,
            .command = run.command,
            .recorded_work = run.recorded_work,
            .recorded_source = run.recorded_source,
            .settings = group.workload.settings,
            .runs = measured,
            .held_out_runs = measure_runs(held_out_runs),
            .first_time = group.runs.front().time,
            .last_time = group.runs.back().time,
            .cores = baseline.cores,
            .gpus = baseline.gpus,
            .pixels_per_image = group.workload.pixels_per_image,
            .input_bytes_per_image = group.workload.input_bytes_per_image,
            .output_bytes_per_image = output_bytes > 0 ? std::optional(output_bytes) : std::nullopt,
            .current_capacity = estimate_capacity(model),
            .baseline = baseline,
            .bounds = model.baseline_bounds(),
            .noise = model.noise(),
            .fixed_threads = fixed,
            .has_unsupported_gpu_request = baseline.gpus == 0 && !request.gpus.empty(),
            .scaling = analyze_scaling(measured, model),
            .concurrent_runs = concurrent_runs(group.runs)};
  plan.has_varying_threads =
      fixed.empty() && std::ranges::any_of(measured, &RunMeasurement::has_explicit_threads);
  plan.baseline_prediction = model.predict(plan.cores, plan.gpus);
  plan.doubled_cores = model.predict(2 * plan.cores, plan.gpus);
  plan.one_more_core = model.predict(plan.cores + 1, plan.gpus);
  if (plan.gpus > 0) plan.one_more_gpu = model.predict(plan.cores, plan.gpus + 1);
  for (const RunMeasurement& other : measured) {
    if (other.cores != plan.cores || other.gpus != plan.gpus) continue;
    plan.peak_per_s = std::max(plan.peak_per_s, other.peak_per_s);
  }
  compute_predictions(request, model, plan);
  plan.contradictions = find_contradictions(plan);
  plan.options = make_options(plan, model);
  return plan;
}

std::int64_t total_images(const Plan& plan) {
  std::int64_t images = 0;
  for (const RunMeasurement& run : plan.runs) images += run.images;
  return images;
}

}  // namespace

std::vector<Plan> make_plans(const std::vector<LoggedRun>& runs, const PlanRequest& request) {
  std::vector<Plan> plans;
  int omitted_workloads = 0;
  for (WorkloadRuns& group : group_by_workload(runs)) {
    const std::vector<LoggedRun> held_out_runs = extract_held_out_runs(group, request.fit_cores);
    if (!group.runs.empty()) plans.push_back(make_plan(group, held_out_runs, request));
    omitted_workloads += group.runs.empty();
  }
  for (Plan& plan : plans) plan.omitted_workloads = omitted_workloads;
  if (plans.empty() && !runs.empty())
    throw std::invalid_argument("no run has the core counts given with --fit-cores");
  std::ranges::stable_sort(plans, std::greater<>(), total_images);
  return plans;
}

}  // namespace eckart::capacity
