#include "capacity/run_measurement.hpp"

#include <algorithm>
#include <cmath>

#include "core/solver_costs.hpp"

namespace eckart::capacity {
namespace {

constexpr std::size_t kMinIntervals = 2;

/// The steady intervals of a run: those after its startup, without the first and last intervals.
struct Steady {
  ThroughputSample sums;
  std::vector<double> rates;
  double unfinished_s = 0;  ///< integral of the unfinished images over time
};

double rate(const ThroughputSample& sample) {
  return sample.interval_s > 0 ? double(sample.images()) / sample.interval_s : 0;
}

std::optional<Steady> find_steady_intervals(const LoggedRun& run) {
  const std::vector<ThroughputSample>& all = run.intervals;
  const bool is_service = run.is_service();
  Steady steady;
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    if (all[i].elapsed_s - all[i].interval_s < run.startup_s) continue;
    // No input arrived, or only skipped inputs.
    const bool had_no_work = is_service || all[i].skipped > 0;
    if (had_no_work && all[i].images() == 0) continue;
    steady.sums = steady.rates.empty() ? all[i] : sum(steady.sums, all[i]);
    steady.rates.push_back(rate(all[i]));
    const double mean = 0.5 * double(all[i - 1].unfinished + all[i].unfinished);
    steady.unfinished_s += mean * all[i].interval_s;
  }
  const bool is_majority = 2 * steady.sums.images() >= run.whole().images();
  const std::size_t min_intervals =
      is_service ? 1 : kMinIntervals;  // each interval contains all its arrivals
  if (steady.rates.size() < min_intervals || !is_majority) return std::nullopt;
  return steady;
}

/// Consecutive intervals are not independent, because a disturbance may affect several of them.
constexpr double kMaxIndependentIntervals = 4;

/// Returns the standard error of the mean of `rates`, relative to the mean.
double standard_error(const std::vector<double>& rates) {
  const double n = double(rates.size());
  double mean = 0, squares = 0;
  for (const double r : rates) mean += r / n;
  for (const double r : rates) squares += (r - mean) * (r - mean);
  const double independent = std::min(n, kMaxIndependentIntervals);
  return mean > 0 && n > 1 ? std::sqrt(squares / (n - 1) / independent) / mean : 0;
}

double peak_rate(const LoggedRun& run) {
  double longest_s = 0, peak = 0;
  for (const ThroughputSample& interval : run.intervals)
    longest_s = std::max(longest_s, interval.interval_s);
  for (const ThroughputSample& interval : run.intervals) {
    if (2 * interval.interval_s >= longest_s) peak = std::max(peak, rate(interval));
  }
  return peak;
}

std::vector<StageUtilization> stage_utilizations(const ThroughputSample& sums, double window_s) {
  std::vector<StageUtilization> demands;
  for (const StageSample& stage : sums.stages) {
    const bool is_mean_known = stage.thread_s > 0 && sums.interval_s > 0;
    const double workers =
        std::max(1.0, is_mean_known ? stage.thread_s / sums.interval_s : double(stage.workers));
    demands.push_back({.stage = stage.stage,
                       .workers = workers,
                       .utilization = std::min(1.0, stage.busy_s / (workers * window_s)),
                       .cpu_utilization = std::min(1.0, stage.cpu_s / (workers * window_s))});
  }
  return demands;
}

/// The lanes of the CPU backend wait for cores only.
double cpu_contention_ratio(const LoggedRun& run, const ThroughputSample& sums) {
  const auto lanes = std::ranges::find(sums.stages, Stage::compute, &StageSample::stage);
  const bool is_known =
      run.backend == to_string(CostBackend::cpu) && lanes != sums.stages.end() && lanes->cpu_s > 0;
  return is_known ? std::max(1.0, lanes->busy_s / lanes->cpu_s) : 1;
}

void measure_gpus(const ThroughputSample& sums, double window_s, RunMeasurement& measured) {
  if (sums.gpus.empty()) return;
  double share = 0, energy_j = 0;
  bool has_energy = true;
  for (const GpuSample& gpu : sums.gpus) {
    share += gpu.observed_s > 0 ? gpu.busy_s / gpu.observed_s : 0;
    has_energy = has_energy && gpu.energy_j;
    energy_j += gpu.energy_j.value_or(0);
  }
  const double images = double(sums.images());
  measured.gpu_utilization = share / double(sums.gpus.size());
  if (share > 0) measured.gpu_s_per_image = share * window_s / images;
  if (has_energy && energy_j > 0) measured.joules_per_image = energy_j / images;
}

std::optional<Resource> saturated_resource(const RunMeasurement& measured) {
  if (measured.core_utilization >= kSaturationThreshold) return Resource::cores;
  if (measured.gpu_utilization >= kSaturationThreshold) return Resource::gpu;
  const StageUtilization* busiest = nullptr;
  for (const StageUtilization& stage : measured.stages) {
    if (!busiest || measured.stage_utilization(stage) > measured.stage_utilization(*busiest))
      busiest = &stage;
  }
  if (!busiest) return std::nullopt;
  const bool waits = measured.is_waiting_for_disk(*busiest) && !measured.is_service;
  if (measured.stage_utilization(*busiest) <
      (waits ? kDiskSaturationThreshold : kSaturationThreshold))
    return std::nullopt;
  return measured.is_waiting_for_disk(*busiest) ? Resource::disk : resource_of(busiest->stage);
}

std::vector<std::string> thread_settings(const LoggedRun& run) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : run.settings) {
    if (key.starts_with("threads.") || key == "cpu.lanes") settings.push_back(key + "=" + value);
  }
  return settings;
}

}  // namespace

bool RunMeasurement::is_waiting_for_disk(const StageUtilization& stage) const {
  if (stage.stage != Stage::load && stage.stage != Stage::write) return false;
  if (core_utilization >= kSaturationThreshold) return false;  // threads also wait for cores
  return stage.utilization - cpu_contention_ratio * stage.cpu_utilization > 0.5 * stage.utilization;
}

double RunMeasurement::stage_utilization(const StageUtilization& stage) const {
  const bool is_wait_for_cores =
      core_utilization > kMaxUncontendedUtilization || cpu_contention_ratio > kContentionRatio;
  if (is_waiting_for_disk(stage) || !is_wait_for_cores)
    return std::max(stage.utilization, stage.cpu_utilization);
  return stage.cpu_utilization;
}

double RunMeasurement::cores_used() const {
  return saturated == Resource::cores || cpu_s_per_image <= 0 ? cores : core_utilization * cores;
}

std::vector<RunMeasurement> comparable_runs(const std::vector<RunMeasurement>& runs, int cores,
                                            int gpus) {
  std::vector<RunMeasurement> all, steady;
  for (const RunMeasurement& run : runs) {
    if (run.cores != cores || run.gpus != gpus) continue;
    all.push_back(run);
    if (run.is_steady()) steady.push_back(run);
  }
  return steady.empty() ? all : steady;
}

RunMeasurement average_runs(const std::vector<RunMeasurement>& runs) {
  RunMeasurement mean = runs.back();
  const double n = double(runs.size());
  const auto mean_of = [&](auto RunMeasurement::*what) {
    double sum = 0;
    for (const RunMeasurement& run : runs) sum += run.*what;
    return sum / n;
  };
  mean.rate_per_s = mean_of(&RunMeasurement::rate_per_s);
  mean.core_utilization = mean_of(&RunMeasurement::core_utilization);
  mean.gpu_utilization = mean_of(&RunMeasurement::gpu_utilization);
  mean.cpu_contention_ratio = mean_of(&RunMeasurement::cpu_contention_ratio);
  mean.rate_standard_error = mean_of(&RunMeasurement::rate_standard_error);
  mean.cpu_s_per_image = mean.core_utilization * mean.cores / mean.rate_per_s;
  if (mean.gpu_utilization > 0)
    mean.gpu_s_per_image = mean.gpu_utilization * mean.gpus / mean.rate_per_s;
  for (StageUtilization& stage : mean.stages) {
    stage.utilization = stage.cpu_utilization = 0;
    for (const RunMeasurement& run : runs) {
      const auto same = std::ranges::find(run.stages, stage.stage, &StageUtilization::stage);
      if (same == run.stages.end()) continue;
      stage.utilization += same->utilization / n;
      stage.cpu_utilization += same->cpu_utilization / n;
    }
  }
  for (const RunMeasurement& run : runs)
    mean.peak_per_s = std::max(mean.peak_per_s, run.peak_per_s);
  mean.saturated = saturated_resource(mean);
  return mean;
}

RunMeasurement measure(const LoggedRun& run) {
  const ThroughputSample whole = run.whole();
  const std::optional<Steady> steady = find_steady_intervals(run);
  const ThroughputSample& sums = steady ? steady->sums : whole;
  const double window_s = steady ? sums.interval_s : whole.interval_s - run.startup_s;
  RunMeasurement measured{.run = run.id,
                          .cores = run.cores,
                          .gpus = int(run.gpus.size()),
                          .images = whole.images(),
                          .elapsed_s = whole.interval_s,
                          .rate_per_s = double(sums.images()) / window_s,
                          .is_service = run.is_service(),
                          .thread_settings = thread_settings(run),
                          .cpu_contention_ratio = cpu_contention_ratio(run, sums)};
  if (steady) {
    measured.intervals = steady->rates.size();
    measured.rate_standard_error = standard_error(steady->rates);
    if (sums.in_system_count > 0) {
      measured.littles_law = {.mean_unfinished = steady->unfinished_s / window_s,
                              .rate_per_s = double(sums.images()) / window_s,
                              .mean_in_system_s = sums.in_system_s / double(sums.in_system_count)};
    }
  }
  measured.peak_per_s = std::max(measured.rate_per_s, peak_rate(run));
  measured.core_utilization = std::min(1.0, sums.cpu_s / (window_s * run.cores));
  measured.cpu_s_per_image = measured.core_utilization * run.cores / measured.rate_per_s;
  measured.stages = stage_utilizations(sums, window_s);
  measure_gpus(sums, window_s, measured);
  measured.saturated = saturated_resource(measured);
  return measured;
}

}  // namespace eckart::capacity
