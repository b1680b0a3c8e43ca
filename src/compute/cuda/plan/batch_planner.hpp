#pragma once

#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/solver_choice.hpp"
#include "core/solver_costs.hpp"

namespace eckart::cuda {

/// The settings and the machine that plans are made for.
struct PlannerOptions {
  SolverKind solver = SolverKind::automatic;  ///< as requested
  SolverCosts costs;                          ///< of the GPU; with several GPUs, of the first
  int batch_planes = 0;                       ///< planes a batch; 0: decided by shape
  int max_float16_columns = 0;                ///< that the float16 kernels take on every GPU
  double lane_bytes = 0;                      ///< device memory for one lane
  bool is_single_solver = false;              ///< see solver_sequence()
  bool is_deterministic = false;
};

/// Decides how batches are computed. Knows no GPU: the same options give the same plans anywhere.
/// Thread-safe; the lanes of a backend share one.
class BatchPlanner {
 public:
  explicit BatchPlanner(const PlannerOptions& options)
      : options_(options), chooser_(options.solver, options.costs) {}

  /// Planes that a batch of this kind should gather, at least 1.
  int batch_planes(const BatchKey& kind) const;
  BatchPlan make_plan(const BatchKey& kind) const;
  /// See Backend::solver_choices().
  std::vector<SolverChoice> solver_choices() const { return chooser_.solver_choices(); }

 private:
  BatchWorkload full_batch(PaddedShape shape, const std::vector<int>& ranks) const;
  SolverKind choose_solver(const BatchWorkload& full_batch) const {
    return chooser_.choose(full_batch, kMaxGramColumns);
  }

  const PlannerOptions options_;
  mutable SolverChooser chooser_;  // thread-safe
};

}  // namespace eckart::cuda
