#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capacity/run_measurement.hpp"
#include "capacity/scaling.hpp"

namespace eckart::capacity {

/// What one resource alone would allow: by the utilization law, servers / demand.
struct Bound {
  Resource resource = Resource::cores;  ///< a stage: with the threads that it has
  double demand_s = 0;                  ///< of an image, in one of its servers
  int servers = 1;                      ///< of a disk the threads that wait for it
  double utilization = 0;               ///< the share of its time, where this was measured
  Estimate rate_per_s = {};
  bool is_lower_bound = false;  ///< it would allow this rate, or more: the demand is an upper bound
};

struct Prediction {
  int cores = 1, gpus = 0;
  Estimate rate_per_s = {};
  std::optional<Resource> bottleneck = {};  ///< the one with the lowest bound; none: unknown
};

/// What a rate takes.
struct Requirement {
  int gpus = 0;
  std::optional<int> cores = {};  ///< none: no number of them does
  std::optional<int> conservative_cores =
      {};                                   ///< of which the lower end of the interval does as well
  std::optional<Resource> bottleneck = {};  ///< where no number of cores does, what limits
};

/// Core-seconds by image at the cores that a run used, for Amdahl's law. Runs on one number of
/// cores are all at one place, however many of the cores they used: what threads they had is no
/// scaling.
std::vector<ScalingPoint> cost_points(const std::vector<RunMeasurement>& runs, double noise);

/// Rates of one kind of work on one kind of machine, by the number of its cores and GPUs.
class Model {
 public:
  /// Runs of the same work, at least one. `fixed_threads`: stages whose threads were set to the
  /// same number in every run, and stay so; those of others grow with the cores.
  Model(const std::vector<RunMeasurement>& runs, std::map<Stage, int> fixed_threads);

  /// What each resource would allow in the present, by the utilization law: its rate by the share
  /// of the time that it was busy. The lowest first; the saturated one before all.
  std::vector<Bound> baseline_bounds() const;
  /// What they would allow elsewhere. A disk allows what was seen and no more: whether it can, the
  /// logs don't tell. The lowest first.
  std::vector<Bound> bounds(int cores, int gpus) const;
  Prediction predict(int cores, int gpus) const;
  Requirement requirement(double rate_per_s, int gpus) const;

  const CoreCost& core_cost() const { return core_cost_; }
  /// The runs with the most cores and GPUs, as one.
  const RunMeasurement& baseline() const { return baseline_; }
  /// By how much runs of the same work on the same machine, or their intervals, differ, relative;
  /// at least kRunNoise.
  double noise() const { return noise_; }
  /// A rate that is known no better than that.
  Estimate rate_estimate(double rate_per_s) const;

 private:
  int threads(Stage stage, int cores, int gpus) const;
  bool can_be_bottleneck(const StageUtilization& stage) const;

  RunMeasurement baseline_;
  double noise_;
  CoreCost core_cost_;
  std::map<Stage, int> fixed_thread_counts_;
  std::map<int, double>
      max_disk_rate_per_s_;  ///< the most that was seen of it, by cores, if threads wait
  std::optional<double> gpu_s_;
  bool was_gpu_saturated_ = false;
};

}  // namespace eckart::capacity
