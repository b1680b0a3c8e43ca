#pragma once

#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/solver_choice.hpp"
#include "core/solver_costs.hpp"

namespace eckart::compute::cuda {

/// The settings and limits that plans are made from.
struct PlannerOptions {
  SolverKind solver = SolverKind::automatic;  ///< as requested by the user
  SolverCosts costs;                          ///< of the first GPU
  int batch_planes = 0;                       ///< planes per batch; 0: the shape decides
  int max_float16_columns = 0;                ///< supported by the float16 kernels on every GPU
  double lane_bytes = 0;                      ///< device memory for one lane
  bool is_single_solver = false;              ///< see solver_sequence()
  Certificate certificate = Certificate::estimate;
  bool is_deterministic = false;
};

/// Decides how batches are computed. It does not use a GPU: equal options give equal plans.
/// Thread-safe; shared by the lanes of a backend.
class BatchPlanner {
 public:
  explicit BatchPlanner(const PlannerOptions& options)
      : options_(options), chooser_(options.solver, options.costs) {}

  /// The number of planes that a batch with this key should have, at least 1.
  int batch_planes(const BatchKey& key) const;
  /// The number of planes of a batch of such images if there is memory for them.
  std::int64_t target_planes(const ImageShape& shape) const {
    return target_batch_planes(padded_shape(shape, 1), options_.batch_planes);
  }
  /// Requires a key with at least one row, column and rank. Throws only std::bad_alloc: a batch
  /// that is too large for the memory gets a plan, and OutOfMemory is thrown when it is computed.
  BatchPlan make_plan(const BatchKey& key) const;
  /// Makes the stages of an adaptive plan cover the ranks that its history asks for.
  void update_covers(const BatchKey& key, BatchPlan& plan) const;
  /// See Backend::solver_choices().
  std::vector<SolverChoice> solver_choices() const { return chooser_.solver_choices(); }

 private:
  std::vector<int> covers(const BatchKey& key, const RankHistory& history) const;
  std::vector<Stage> adaptive_stages(const BatchKey& key, std::span<const int> covers) const;
  std::vector<int> ranks_by_columns(const BatchKey& key) const;
  int columns(const BatchKey& key, int rank) const;
  BatchWorkload full_batch(const BatchKey& key, const std::vector<int>& ranks) const;
  SolverKind choose_solver(const BatchWorkload& full_batch) const {
    return chooser_.choose(full_batch, kMaxGramColumns);
  }

  const PlannerOptions options_;
  mutable SolverChooser chooser_;  // thread-safe
};

}  // namespace eckart::compute::cuda
