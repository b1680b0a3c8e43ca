#include "compute/cuda/plan/batch_plan.hpp"

#include <utility>

#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/evict_if_full.hpp"

namespace eckart::compute::cuda {

Problem BatchPlan::problem(std::size_t solver, int padded_planes, int iterations) const {
  Problem problem{shape.rows, shape.cols, padded_planes, ranks, columns, iterations};
  if (is_adaptive && !is_subspace(solvers[solver])) problem.ranks.assign(ranks.size(), shape.cols);
  return problem;
}

std::size_t BatchPlan::first_recompute_solver(int iterations) const {
  // If the second solver computed the whole batch, it runs again with the maximum number of
  // iterations, unless it already had that many.
  const bool is_second_solver_useful = first_solver == 0 || iterations < IterationTuner::kMax;
  return is_second_solver_useful ? 1 : 2;
}

int BatchPlan::max_recompute_planes(std::size_t solver) const {
  // A sequential solver would spend as much time on the empty planes of a deterministic batch as on
  // others.
  return is_deterministic && is_sequential(solvers[solver]) ? 1 : capacity.recompute;
}

void BatchPlan::record_result(int iterations, int planes, int planes_needing_iterations,
                              double max_iteration_loss_db) {
  if (is_deterministic) return;
  tuner.update(iterations, planes, planes_needing_iterations, max_iteration_loss_db);
}

void BatchPlan::record_ranks(std::vector<int> largest_ranks) {
  if (is_adaptive && !is_deterministic) rank_tuner.update(std::move(largest_ranks));
}

BatchPlan& BatchPlanCache::get_or_make(const BatchKey& key, const IsInFlight& is_in_flight) {
  const auto known = plans_.find(key);
  if (known != plans_.end()) {
    BatchPlan& plan = known->second;
    if (plan.has_outdated_ranks()) {
      BatchPlan next = planner_.make_plan(key, plan.rank_tuner);
      next.capacity = plan.capacity;
      next.tuner = plan.tuner;
      plan = std::move(next);
    }
    return plan;
  }
  evict_if_full(plans_, is_in_flight);
  return plans_[key] = planner_.make_plan(key);
}

}  // namespace eckart::compute::cuda
