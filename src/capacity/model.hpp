#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capacity/demand.hpp"
#include "capacity/scaling.hpp"

namespace eckart::capacity {

/// What one resource alone would allow: by the utilisation law, servers / demand.
struct Bound {
  std::string resource = {};  ///< cores, GPU, or a stage with the threads that it has
  double demand_s = 0;        ///< of an image, in one of its servers
  int servers = 1;
  Interval rate_per_s = {};
  bool is_at_least = false;  ///< it would allow this rate, or more: the demand is an upper bound
};

struct Prediction {
  int cores = 1, gpus = 0;
  Interval rate_per_s = {};
  std::string limit = {};  ///< the resource with the lowest bound
};

/// What a rate takes.
struct Need {
  int gpus = 0;
  std::optional<int> cores = {};       ///< none: no number of them does
  std::optional<int> sure_cores = {};  ///< of which the lower end of the interval does as well
  std::string limit = {};              ///< where no number of cores does, what limits
};

/// Rates of one kind of work on one kind of machine, by the number of its cores and GPUs.
class Model {
 public:
  /// Runs of the same work, at least one. `fixed_threads`: stages whose threads were set to the
  /// same number in every run, and stay so; those of others grow with the cores.
  Model(const std::vector<Measured>& runs, std::map<std::string, int> fixed_threads);

  /// The lowest first.
  std::vector<Bound> bounds(int cores, int gpus) const;
  Prediction predict(int cores, int gpus) const;
  Need need(double rate_per_s, int gpus) const;

  const CoreCost& core_cost() const { return core_cost_; }
  /// The run with the most cores and GPUs, of these the last one.
  const Measured& present() const { return present_; }

 private:
  int threads(const std::string& stage, int cores, int gpus) const;
  bool counts(const StageDemand& stage) const;

  Measured present_;
  CoreCost core_cost_;
  double core_cost_here_s_;
  std::map<std::string, int> fixed_threads_;
  std::vector<StageDemand> stages_;
  std::optional<double> gpu_s_;
  bool was_gpu_saturated_ = false;
};

}  // namespace eckart::capacity
