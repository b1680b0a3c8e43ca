#include "compute/cuda/plan/batch_plan.hpp"

#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/evict_if_full.hpp"

namespace eckart::compute::cuda {

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

BatchPlan& BatchPlanCache::get_or_make(const BatchKey& key, const IsInFlight& is_in_flight) {
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  evict_if_full(plans_, is_in_flight);
  return plans_[key] = planner_.make_plan(key);
}

}  // namespace eckart::compute::cuda
