#include "compute/cuda/plan/batch_plan.hpp"

#include <algorithm>
#include <utility>

#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/evict_if_full.hpp"
#include "compute/rank_estimate.hpp"

namespace eckart::compute::cuda {
namespace {

// The block that covers most is also tried for ranks estimated up to this times as large: the
// estimate may be too high, and a complete decomposition takes much longer.
constexpr double kMaxOverestimate = 1.5;

}  // namespace

Problem BatchPlan::problem(std::size_t stage, int padded_planes, int iterations) const {
  return {shape.rows, shape.cols, padded_planes, stages[stage].ranks, stages[stage].columns,
          iterations};
}

std::vector<SolverStep> BatchPlan::solvers() const {
  std::vector<SolverStep> steps;
  for (const Stage& stage : stages) steps.push_back(stage.solver);
  return steps;
}

std::size_t BatchPlan::first_recompute_stage(int iterations, int computed_revision) const {
  if (computed_revision != revision) return first_stage;
  // If the second solver computed the whole batch, it runs again with the maximum number of
  // iterations, unless it already had that many.
  const bool is_second_solver_useful = first_stage == 0 || iterations < IterationTuner::kMax;
  return is_second_solver_useful ? 1 : 2;
}

bool BatchPlan::suits(std::size_t stage, const ImageNeeds& needs) const {
  if (!is_block(stage)) return true;
  if (needs.is_float64 && stages[stage].solver == SolverStep::float16_subspace) return false;
  const int covered = stages[stage].largest_rank();
  const auto covers_more = [&](const Stage& other) {
    return is_subspace(other.solver) && other.largest_rank() > covered;
  };
  const bool is_largest = std::ranges::none_of(stages, covers_more);
  return (is_largest ? int(needs.rank / kMaxOverestimate)
                     : rank_to_cover(needs.rank, shape.cols)) <= covered;
}

int BatchPlan::recompute_iterations(std::size_t stage, bool has_unconverged) const {
  const bool needs_all = stage == first_stage || (stages[stage].is_retry && has_unconverged);
  return needs_all ? IterationTuner::kMax : stages[stage].tuner.next();
}

int BatchPlan::max_recompute_planes(std::size_t stage) const {
  // A sequential solver would spend as much time on the empty planes of a deterministic batch as on
  // others.
  if (is_deterministic && is_sequential(stages[stage].solver)) return 1;
  return is_block(stage) ? capacity.block() : capacity.recompute;
}

void BatchPlan::record_result(std::size_t stage, int iterations,
                              std::span<const double> losses_db) {
  if (!is_deterministic) stages[stage].tuner.update(iterations, losses_db);
}

void BatchPlan::record_ranks(std::span<const int> largest_ranks) {
  if (is_adaptive && !is_deterministic) rank_history.add(largest_ranks);
}

BatchPlan& BatchPlanCache::get_or_make(const BatchKey& key, const IsInFlight& is_in_flight) {
  const auto known = plans_.find(key);
  if (known != plans_.end()) {
    BatchPlan& plan = known->second;
    if (plan.is_adaptive) planner_.update_covers(key, plan);
    return plan;
  }
  evict_if_full(plans_, is_in_flight);
  return plans_[key] = planner_.make_plan(key);
}

}  // namespace eckart::compute::cuda
