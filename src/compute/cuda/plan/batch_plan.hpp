#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/cuda/plan/iteration_tuner.hpp"
#include "compute/cuda/plan/rank_tuner.hpp"
#include "compute/cuda/plan/solver_sequence.hpp"

namespace eckart::compute::cuda {

class BatchPlanner;

/// How one lane computes one kind of batch. Capacity and iterations are adapted to earlier batches;
/// BatchPlanner sets everything else.
struct BatchPlan {
  PaddedShape shape;
  /// One per output, each at most shape.cols. For ranks that depend on singular values: the largest
  /// that the factors of subspace iteration cover.
  std::vector<int> ranks;
  bool is_adaptive = false;         ///< a rank depends on singular values
  RankTuner rank_tuner;             ///< of an adaptive plan
  int columns = 0;                  ///< columns of subspace iteration
  std::vector<SolverStep> solvers;  ///< see solver_sequence()
  std::size_t first_solver = 0;     ///< index in `solvers` of the first solver of whole batches
  Certificate certificate = Certificate::estimate;  ///< what certifies a plane
  bool is_deterministic = false;  ///< bytes do not depend on the other images of a batch
  BatchCapacity capacity;         ///< numbers of planes that memory is reserved for
  IterationTuner tuner;           ///< iterations of whole batches

  /// The problem for a solver. `padded_planes` includes the empty planes that fill the batch.
  Problem problem(std::size_t solver, int padded_planes, int iterations) const;
  /// The number of planes to compute for a batch of `planes`, if memory is reserved for
  /// `max_planes`.
  int padded_planes(int planes, int max_planes) const {
    return is_deterministic ? max_planes : planes;
  }

  bool is_last(std::size_t solver) const { return solver + 1 == solvers.size(); }
  /// The index of the solver that recomputes planes which the first solver left uncertified after
  /// `iterations`.
  std::size_t first_recompute_solver(int iterations) const;
  /// The number of planes that `solver` recomputes at a time.
  int max_recompute_planes(std::size_t solver) const;

  /// Reports the result of a whole batch of `planes` to the tuner. A deterministic plan ignores it.
  void record_result(int iterations, int planes, int planes_needing_iterations,
                     double max_iteration_loss_db);
  /// Reports the largest rank of each plane of a whole batch. A deterministic plan ignores it.
  void record_ranks(std::vector<int> largest_ranks);
  /// Whether the tuner wants another rank than the plan was made for.
  bool has_outdated_ranks() const { return is_adaptive && rank_tuner.next() != covered_rank; }
  int covered_rank = 0;  ///< of an adaptive plan: rank_tuner.next() when the plan was made
};

/// The plans of one lane by batch key. Bounded by kMaxCacheEntries: when it is full, the plans that
/// are not in flight are evicted.
class BatchPlanCache {
 public:
  using IsInFlight = std::function<bool(const BatchKey&)>;
  /// The planner must outlive the cache.
  explicit BatchPlanCache(const BatchPlanner& planner) : planner_(planner) {}

  /// Returns the plan of this key. Creates it if necessary, or again if it covers other ranks than
  /// its tuner wants. The reference is valid while a batch with this key is in flight.
  BatchPlan& get_or_make(const BatchKey& key, const IsInFlight& is_in_flight);
  /// The plan of a key that is in flight.
  BatchPlan& at(const BatchKey& key) { return plans_.at(key); }
  std::size_t size() const { return plans_.size(); }

 private:
  const BatchPlanner& planner_;
  std::map<BatchKey, BatchPlan> plans_;
};

}  // namespace eckart::compute::cuda
