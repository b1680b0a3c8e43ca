#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/cuda/plan/iteration_tuner.hpp"
#include "compute/cuda/plan/solver_sequence.hpp"

namespace eckart::cuda {

class BatchPlanner;

/// How one lane computes batches of one kind. Capacity and iterations change with what earlier
/// batches needed; everything else is fixed by BatchPlanner.
struct BatchPlan {
  PaddedShape shape;
  std::vector<int> ranks;           ///< one an output, each at most shape.cols
  int columns = 0;                  ///< of subspace iteration
  std::vector<SolverStep> solvers;  ///< see solver_sequence()
  std::size_t first_solver = 0;     ///< of them, the one that whole batches go to
  bool is_deterministic = false;    ///< bytes do not depend on who shares a batch
  BatchCapacity capacity;           ///< planes that memory is reserved for
  IterationTuner tuner;             ///< of whole batches

  /// What a solver is asked for. `padded_planes`: planes with the empty ones that fill the batch.
  Problem problem(int padded_planes, int iterations) const {
    return {shape.rows, shape.cols, padded_planes, ranks, columns, iterations};
  }
  /// Planes that a batch of `planes` is computed with where there is memory for `max_planes`.
  int padded_planes(int planes, int max_planes) const {
    return is_deterministic ? max_planes : planes;
  }

  bool is_last(std::size_t solver) const { return solver + 1 == solvers.size(); }
  /// The solver of the planes that a first attempt with so many iterations left uncertified.
  std::size_t first_recompute_solver(int iterations) const;
  /// Planes that `solver` recomputes at a time.
  int max_recompute_planes(std::size_t solver) const;

  /// What a whole batch of `planes` showed; see IterationTuner. A deterministic plan learns
  /// nothing.
  void record_result(int iterations, int planes, int planes_needing_iterations,
                     double max_iteration_loss_db);
};

/// The plans of one lane by kind of batch. Bounded: a full one forgets the kinds that are not in
/// flight, and what their batches needed.
class BatchPlanCache {
 public:
  using IsInFlight = std::function<bool(const BatchKey&)>;
  /// The planner must outlive the cache.
  explicit BatchPlanCache(const BatchPlanner& planner) : planner_(planner) {}

  /// Made when the kind is first met. Valid while the kind is in flight.
  BatchPlan& get_or_make(const BatchKey& kind, const IsInFlight& is_in_flight);
  /// Of a kind in flight.
  BatchPlan& at(const BatchKey& kind) { return plans_.at(kind); }
  std::size_t size() const { return plans_.size(); }

 private:
  const BatchPlanner& planner_;
  std::map<BatchKey, BatchPlan> plans_;
};

}  // namespace eckart::cuda
