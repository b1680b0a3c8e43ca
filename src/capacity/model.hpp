#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capacity/run_measurement.hpp"
#include "capacity/scaling.hpp"

namespace eckart::capacity {

/// The largest machine of a plan.
inline constexpr int kMaxCores = 4096;

/// The rate that one resource alone would allow. By the utilization law: servers / demand.
struct Bound {
  /// If it is a stage: with the current number of threads, or with the most that `auto` allows.
  Resource resource = Resource::cores;
  double demand_s = 0;     ///< service demand: time of one image on one server
  int servers = 1;         ///< for a disk: the threads that wait for it
  double utilization = 0;  ///< 0 to 1, if it was measured
  Estimate rate_per_s = {};
  /// The true rate may be higher, because the demand is an upper bound.
  bool is_lower_bound = false;
};

struct Prediction {
  int cores = 1, gpus = 0;
  Estimate rate_per_s = {};
  std::optional<Resource> bottleneck = {};  ///< the resource with the lowest bound; none if unknown
};

/// The machine that a rate requires.
struct Requirement {
  int gpus = 0;
  std::optional<int> cores = {};  ///< none if no number of cores suffices
  std::optional<int> conservative_cores =
      {};  ///< cores for which the lower end of the interval also suffices
  std::optional<Resource> bottleneck = {};  ///< the limit if no number of cores suffices
};

/// Returns core-seconds per image by number of cores, for Amdahl's law. If all runs had the same
/// number of cores, their points are at this number: the number of threads does not show scaling.
/// Otherwise, each point is at the number of cores that its run kept busy.
std::vector<ScalingPoint> cost_points(const std::vector<RunMeasurement>& runs, double noise);

/// Rates of one workload on one kind of machine, by the number of cores and GPUs.
class Model {
 public:
  /// `runs`: at least one run, all of the same workload. `fixed_threads`: stages with the same
  /// configured number of threads in every run. Predictions keep these; the threads of other stages
  /// grow with the cores.
  Model(const std::vector<RunMeasurement>& runs, std::map<Stage, int> fixed_threads);

  /// Returns the bound of each resource on the current machine, by the utilization law: rate /
  /// utilization; of threads that a run adapts, with the most of them. The lowest bound is first,
  /// but a saturated resource precedes all others.
  std::vector<Bound> baseline_bounds() const;
  /// Returns the bounds on another machine, the lowest first. The bound of a disk is the highest
  /// observed rate, because the logs do not show whether it could be faster.
  std::vector<Bound> bounds(int cores, int gpus) const;
  Prediction predict(int cores, int gpus) const;
  Requirement requirement(double rate_per_s, int gpus) const;

  const CoreCost& core_cost() const { return core_cost_; }
  /// The average of the runs with the most cores and GPUs.
  const RunMeasurement& baseline() const { return baseline_; }
  /// The relative difference between runs of the same workload on the same machine, or between
  /// their intervals; at least kRunNoise.
  double noise() const { return noise_; }
  /// Returns the rate with an interval that corresponds to noise().
  Estimate rate_estimate(double rate_per_s) const;

 private:
  int threads(Stage stage, int cores, int gpus) const;
  bool can_be_bottleneck(const StageUtilization& stage) const;

  RunMeasurement baseline_;
  double noise_;
  CoreCost core_cost_;
  std::map<Stage, int> fixed_thread_counts_;
  std::map<int, double>
      max_disk_rate_per_s_;  ///< the highest observed rate, by cores, if threads wait
  std::optional<double> gpu_s_;
  bool was_gpu_saturated_ = false;
};

}  // namespace eckart::capacity
