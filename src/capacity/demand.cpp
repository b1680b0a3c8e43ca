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
  if (steady.rates.size() < kFewestIntervals || !is_most) return std::nullopt;
  return steady;
}

/// Of the mean of `rates`, relative to it.
double standard_error(const std::vector<double>& rates) {
  const double n = double(rates.size());
  double mean = 0, squares = 0;
  for (const double r : rates) mean += r / n;
  for (const double r : rates) squares += (r - mean) * (r - mean);
  return mean > 0 && n > 1 ? std::sqrt(squares / (n - 1) / n) / mean : 0;
}

double peak_rate(const LoggedRun& run) {
  double longest_s = 0, peak = 0;
  for (const Sample& interval : run.intervals) longest_s = std::max(longest_s, interval.interval_s);
  for (const Sample& interval : run.intervals) {
    if (2 * interval.interval_s >= longest_s) peak = std::max(peak, rate(interval));
  }
  return peak;
}

std::vector<StageDemand> stage_demands(const Sample& sums, double window_s, bool is_crowded) {
  std::vector<StageDemand> demands;
  const double images = double(sums.images());
  for (const StageSample& stage : sums.stages) {
    const int workers = std::max(1, stage.workers);
    StageDemand demand{.name = stage.name,
                       .workers = workers,
                       .cpu_s = stage.cpu_s / images,
                       .busy = std::min(1.0, stage.busy_s / (workers * window_s))};
    if (!is_crowded) demand.wait_s = std::max(0.0, stage.busy_s - stage.cpu_s) / images;
    demands.push_back(demand);
  }
  return demands;
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
  const auto busiest = std::ranges::max_element(measured.stages, {}, &StageDemand::busy);
  if (busiest == measured.stages.end() || busiest->busy < kSaturated) return {};
  return busiest->name;
}

bool sets_threads(const LoggedRun& run) {
  return std::ranges::any_of(run.settings, [](const auto& setting) {
    return setting.first.starts_with("threads.") || setting.first == "cpu.lanes";
  });
}

}  // namespace

double Measured::cores_used() const {
  const bool is_free_to_use_all = saturated.empty() && !is_service && !has_set_threads;
  if (saturated == "cores" || is_free_to_use_all || cpu_s <= 0) return cores;
  return core_share * cores;
}

double Measured::busy(const std::string& resource) const {
  if (resource == "cores") return core_share;
  if (resource == "GPU") return gpu_share;
  const auto stage = std::ranges::find(stages, resource, &StageDemand::name);
  return stage == stages.end() ? 0 : stage->busy;
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
                    .has_set_threads = sets_threads(run)};
  if (steady) {
    measured.intervals = steady->rates.size();
    measured.rate_error = standard_error(steady->rates);
    if (sums.in_system_count > 0) {
      measured.little = {.mean_unfinished = steady->unfinished_s / window_s,
                         .rate_per_s = double(sums.done) / window_s,
                         .mean_in_system_s = sums.in_system_s / double(sums.in_system_count)};
    }
  }
  measured.peak_per_s = std::max(measured.rate_per_s, peak_rate(run));
  measured.core_share = std::min(1.0, sums.cpu_s / (window_s * run.cores));
  measured.cpu_s = measured.core_share * run.cores / measured.rate_per_s;
  measured.stages = stage_demands(sums, window_s, measured.core_share > kUncrowded);
  measure_gpus(sums, window_s, measured);
  measured.saturated = saturated_resource(measured);
  return measured;
}

}  // namespace eckart::capacity
