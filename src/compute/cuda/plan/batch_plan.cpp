#include "compute/cuda/plan/batch_plan.hpp"

#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/evict_if_full.hpp"

namespace eckart::cuda {

std::size_t BatchPlan::first_recompute_solver(int iterations) const {
  // A second solver that computed the whole batch is tried again, with as many iterations as it may
  // have, unless it had them.
  const bool is_second_solver_useful = first_solver == 0 || iterations < IterationTuner::kMax;
  return is_second_solver_useful ? 1 : 2;
}

int BatchPlan::max_recompute_planes(std::size_t solver) const {
  // The empty planes that a deterministic batch is filled with would cost a sequential solver as
  // much as others.
  return is_deterministic && is_sequential(solvers[solver]) ? 1 : capacity.recompute;
}

void BatchPlan::record_result(int iterations, int planes, int planes_needing_iterations,
                              double max_iteration_loss_db) {
  if (is_deterministic) return;
  tuner.update(iterations, planes, planes_needing_iterations, max_iteration_loss_db);
}

BatchPlan& BatchPlanCache::get_or_make(const BatchKey& kind, const IsInFlight& is_in_flight) {
  const auto known = plans_.find(kind);
  if (known != plans_.end()) return known->second;
  evict_if_full(plans_, is_in_flight);
  return plans_[kind] = planner_.make_plan(kind);
}

}  // namespace eckart::cuda
