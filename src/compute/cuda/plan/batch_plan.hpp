#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/layout/spectrum_format.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/cuda/plan/iteration_tuner.hpp"
#include "compute/cuda/plan/rank_history.hpp"
#include "compute/cuda/plan/solver_sequence.hpp"

namespace eckart::compute::cuda {

class BatchPlanner;

/// One solver of a plan, and what it computes.
struct Stage {
  SolverStep solver;
  /// One per output, each at most the columns of a plane. For ranks that depend on singular values:
  /// the largest that the factors cover.
  std::vector<int> ranks;
  int columns = 0;         ///< of subspace iteration
  IterationTuner tuner{};  ///< of subspace iteration
  /// Whether it computes in float64 what subspace iteration left uncertified.
  bool is_retry = false;

  int largest_rank() const { return *std::ranges::max_element(ranks); }
};

/// What an image needs that a stage of an adaptive plan left uncertified.
struct ImageNeeds {
  int rank = 0;             ///< the largest of its ranks, as estimated if it was not covered
  bool is_float64 = false;  ///< float16 is not precise enough
};

/// How one lane computes one kind of batch. Capacity, iterations and covered ranks are adapted to
/// earlier batches; BatchPlanner sets everything else.
struct BatchPlan {
  PaddedShape shape;
  /// Whether a rank depends on singular values. The stages of subspace iteration then cover more
  /// and more ranks; one is a retry. Each image goes through the first stage, and then to the first
  /// one that suits its needs.
  bool is_adaptive = false;
  RankHistory rank_history;     ///< of an adaptive plan
  std::vector<int> covers;      ///< of an adaptive plan, see choose_covers()
  std::vector<Stage> stages;    ///< see solver_sequence()
  int revision = 0;             ///< how often `stages` was replaced
  std::size_t first_stage = 0;  ///< the index of the stage that computes whole batches
  Certificate certificate = Certificate::estimate;  ///< what certifies a plane
  bool is_deterministic = false;  ///< bytes do not depend on the other images of a batch
  BatchCapacity capacity;         ///< numbers of planes that memory is reserved for

  /// The problem of a stage. `padded_planes` includes the empty planes that fill the batch.
  Problem problem(std::size_t stage, int padded_planes, int iterations) const;
  /// The solvers of all stages.
  std::vector<SolverStep> solvers() const;
  /// The number of planes to compute for a batch of `planes`, if memory is reserved for
  /// `max_planes`. Whole images may have more planes than that.
  int padded_planes(int planes, int max_planes) const {
    return is_deterministic ? std::max(planes, max_planes) : planes;
  }

  bool is_last(std::size_t stage) const { return stage + 1 == stages.size(); }
  /// Whether a stage of an adaptive plan covers a part of the ranks.
  bool is_block(std::size_t stage) const {
    return is_adaptive && is_subspace(stages[stage].solver);
  }
  /// The iterations of whole batches.
  int iterations() const { return stages[first_stage].tuner.next(); }
  /// The index of the stage that recomputes planes which the first one left uncertified after
  /// `iterations`. If the stages were replaced since the batch was computed, that is the first one
  /// itself. `computed_revision` is the revision that computed the batch.
  std::size_t first_recompute_stage(int iterations, int computed_revision) const;
  /// Whether a stage shall recompute an image with these needs.
  bool suits(std::size_t stage, const ImageNeeds& needs) const;
  /// `has_unconverged`: whether a plane needs more iterations, not only more precision.
  int recompute_iterations(std::size_t stage, bool has_unconverged) const;
  /// The number of planes that a stage recomputes at a time.
  int max_recompute_planes(std::size_t stage) const;

  /// Reports a result to the tuner of a stage, see IterationTuner::update(). A deterministic plan
  /// ignores it.
  void record_result(std::size_t stage, int iterations, std::span<const double> losses_db);
  /// Reports the largest rank of each plane of a whole batch. A deterministic plan ignores it.
  void record_ranks(std::span<const int> largest_ranks);
};

/// The plans of one lane by batch key. Bounded by kMaxCacheEntries: when it is full, the plans that
/// are not in flight are evicted.
class BatchPlanCache {
 public:
  using IsInFlight = std::function<bool(const BatchKey&)>;
  /// The planner must outlive the cache.
  explicit BatchPlanCache(const BatchPlanner& planner) : planner_(planner) {}

  /// Returns the plan of this key. Creates it if necessary, or again if it shall cover other ranks.
  /// The reference is valid while a batch with this key is in flight.
  BatchPlan& get_or_make(const BatchKey& key, const IsInFlight& is_in_flight);
  /// The plan of a key that is in flight.
  BatchPlan& at(const BatchKey& key) { return plans_.at(key); }
  std::size_t size() const { return plans_.size(); }

 private:
  const BatchPlanner& planner_;
  std::map<BatchKey, BatchPlan> plans_;
};

}  // namespace eckart::compute::cuda
