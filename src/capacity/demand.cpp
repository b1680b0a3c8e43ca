#include "capacity/demand.hpp"

#include <algorithm>
#include <cmath>

namespace eckart::capacity {
namespace {

constexpr std::size_t kFewestIntervals = 2;

/// The intervals of a run in which nothing begins or ends: after its start-up, before its last one.
struct Steady {
  Sample sums;
  std::vector<double> rates;
  double unfinished_s = 0;  ///< integral of the unfinished
};

double rate(const Sample& sample) {
  return sample.interval_s > 0 ? double(sample.images()) / sample.interval_s : 0;
}

std::optional<Steady> steady_intervals(const LoggedRun& run) {
  const std::vector<Sample>& all = run.intervals;
  const bool is_service = run.command == "watch";
  Steady steady;
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    if (all[i].elapsed_s - all[i].interval_s < run.startup_s) continue;
    const bool had_no_work = is_service || all[i].skipped > 0;  // nothing came, or only old ones
    if (had_no_work && all[i].images() == 0) continue;
    steady.sums = steady.rates.empty() ? all[i] : sum(steady.sums, all[i]);
    steady.rates.push_back(rate(all[i]));
    const double mean = 0.5 * double(all[i - 1].unfinished + all[i].unfinished);
    steady.unfinished_s += mean * all[i].interval_s;
  }
  const bool is_most = 2 * steady.sums.images() >= run.whole().images();
  const std::size_t fewest = is_service ? 1 : kFewestIntervals;  // each says all of what came in it
  if (steady.rates.size() < fewest || !is_most) return std::nullopt;
  return steady;
}

/// Intervals that follow one another are not independent: what disturbs one disturbs the next.
constexpr double kMostIndependent = 4;

/// Of the mean of `rates`, relative to it.
double standard_error(const std::vector<double>& rates) {
  const double n = double(rates.size());
  double mean = 0, squares = 0;
  for (const double r : rates) mean += r / n;
  for (const double r : rates) squares += (r - mean) * (r - mean);
  const double independent = std::min(n, kMostIndependent);
  return mean > 0 && n > 1 ? std::sqrt(squares / (n - 1) / independent) / mean : 0;
}

double peak_rate(const LoggedRun& run) {
  double longest_s = 0, peak = 0;
  for (const Sample& interval : run.intervals) longest_s = std::max(longest_s, interval.interval_s);
  for (const Sample& interval : run.intervals) {
    if (2 * interval.interval_s >= longest_s) peak = std::max(peak, rate(interval));
  }
  return peak;
}

std::vector<StageDemand> stage_demands(const Sample& sums, double window_s) {
  std::vector<StageDemand> demands;
  for (const StageSample& stage : sums.stages) {
    const int workers = std::max(1, stage.workers);
    demands.push_back({.name = stage.name,
                       .workers = workers,
                       .busy = std::min(1.0, stage.busy_s / (workers * window_s)),
                       .cpu_busy = std::min(1.0, stage.cpu_s / (workers * window_s))});
  }
  return demands;
}

/// Lanes on the CPU wait for nothing but cores.
double core_wait(const LoggedRun& run, const Sample& sums) {
  const auto lanes = std::ranges::find(sums.stages, "compute", &StageSample::name);
  const bool is_known = run.backend == "cpu" && lanes != sums.stages.end() && lanes->cpu_s > 0;
  return is_known ? std::max(1.0, lanes->busy_s / lanes->cpu_s) : 1;
}

void measure_gpus(const Sample& sums, double window_s, Measured& measured) {
  if (sums.gpus.empty()) return;
  double share = 0, energy_j = 0;
  bool has_energy = true;
  for (const GpuSample& gpu : sums.gpus) {
    share += gpu.looked_s > 0 ? gpu.busy_s / gpu.looked_s : 0;
    has_energy = has_energy && gpu.energy_j;
    energy_j += gpu.energy_j.value_or(0);
  }
  const double images = double(sums.images());
  measured.gpu_share = share / double(sums.gpus.size());
  if (share > 0) measured.gpu_s = share * window_s / images;
  if (has_energy && energy_j > 0) measured.joules_per_image = energy_j / images;
}

std::string saturated_resource(const Measured& measured) {
  if (measured.core_share >= kSaturated) return "cores";
  if (measured.gpu_share >= kSaturated) return "GPU";
  const StageDemand* busiest = nullptr;
  for (const StageDemand& stage : measured.stages) {
    if (!busiest || measured.taken(stage) > measured.taken(*busiest)) busiest = &stage;
  }
  if (!busiest) return {};
  const bool waits = measured.waits_for_disk(*busiest) && !measured.is_service;
  if (measured.taken(*busiest) < (waits ? kMostlyWaiting : kSaturated)) return {};
  return measured.waits_for_disk(*busiest) ? "disk" : busiest->name;
}

bool sets_threads(const LoggedRun& run) {
  return std::ranges::any_of(run.settings, [](const auto& setting) {
    return setting.first.starts_with("threads.") || setting.first == "cpu.lanes";
  });
}

}  // namespace

bool Measured::waits_for_disk(const StageDemand& stage) const {
  if (stage.name != "load" && stage.name != "write") return false;
  if (core_share >= kSaturated) return false;  // there a thread waits for a core as well
  return stage.busy - core_wait * stage.cpu_busy > 0.5 * stage.busy;
}

double Measured::taken(const StageDemand& stage) const {
  const bool is_wait_for_cores = core_share > kUncrowded || core_wait > kOthers;
  if (waits_for_disk(stage) || !is_wait_for_cores) return std::max(stage.busy, stage.cpu_busy);
  return stage.cpu_busy;
}

double Measured::cores_used() const {
  return saturated == "cores" || cpu_s <= 0 ? cores : core_share * cores;
}

std::vector<Measured> alike(const std::vector<Measured>& runs, int cores, int gpus) {
  std::vector<Measured> all, steady;
  for (const Measured& run : runs) {
    if (run.cores != cores || run.gpus != gpus) continue;
    all.push_back(run);
    if (run.is_steady()) steady.push_back(run);
  }
  return steady.empty() ? all : steady;
}

Measured pooled(const std::vector<Measured>& runs) {
  Measured mean = runs.back();
  const double n = double(runs.size());
  const auto mean_of = [&](auto Measured::*what) {
    double sum = 0;
    for (const Measured& run : runs) sum += run.*what;
    return sum / n;
  };
  mean.rate_per_s = mean_of(&Measured::rate_per_s);
  mean.core_share = mean_of(&Measured::core_share);
  mean.gpu_share = mean_of(&Measured::gpu_share);
  mean.core_wait = mean_of(&Measured::core_wait);
  mean.rate_error = mean_of(&Measured::rate_error);
  mean.cpu_s = mean.core_share * mean.cores / mean.rate_per_s;
  if (mean.gpu_share > 0) mean.gpu_s = mean.gpu_share * mean.gpus / mean.rate_per_s;
  for (StageDemand& stage : mean.stages) {
    stage.busy = stage.cpu_busy = 0;
    for (const Measured& run : runs) {
      const auto same = std::ranges::find(run.stages, stage.name, &StageDemand::name);
      if (same == run.stages.end()) continue;
      stage.busy += same->busy / n;
      stage.cpu_busy += same->cpu_busy / n;
    }
  }
  for (const Measured& run : runs) mean.peak_per_s = std::max(mean.peak_per_s, run.peak_per_s);
  mean.saturated = saturated_resource(mean);
  return mean;
}

Measured measure(const LoggedRun& run) {
  const Sample whole = run.whole();
  const std::optional<Steady> steady = steady_intervals(run);
  const Sample& sums = steady ? steady->sums : whole;
  const double window_s = steady ? sums.interval_s : whole.interval_s - run.startup_s;
  Measured measured{.run = run.id,
                    .cores = run.cores,
                    .gpus = int(run.gpus.size()),
                    .images = whole.images(),
                    .elapsed_s = whole.interval_s,
                    .rate_per_s = double(sums.images()) / window_s,
                    .is_service = run.command == "watch",
                    .has_set_threads = sets_threads(run),
                    .core_wait = core_wait(run, sums)};
  if (steady) {
    measured.intervals = steady->rates.size();
    measured.rate_error = standard_error(steady->rates);
    if (sums.in_system_count > 0) {
      measured.little = {.mean_unfinished = steady->unfinished_s / window_s,
                         .rate_per_s = double(sums.images()) / window_s,
                         .mean_in_system_s = sums.in_system_s / double(sums.in_system_count)};
    }
  }
  measured.peak_per_s = std::max(measured.rate_per_s, peak_rate(run));
  measured.core_share = std::min(1.0, sums.cpu_s / (window_s * run.cores));
  measured.cpu_s = measured.core_share * run.cores / measured.rate_per_s;
  measured.stages = stage_demands(sums, window_s);
  measure_gpus(sums, window_s, measured);
  measured.saturated = saturated_resource(measured);
  return measured;
}

}  // namespace eckart::capacity
