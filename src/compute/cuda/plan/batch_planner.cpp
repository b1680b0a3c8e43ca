#include "compute/cuda/plan/batch_planner.hpp"

#include <algorithm>
#include <cstdint>

#include "compute/cuda/plan/subspace_columns.hpp"

namespace eckart::compute::cuda {
namespace {

std::vector<int> choose_ranks(const BatchKey& key) {
  std::vector<int> ranks;
  for (const RankPolicy& policy : key.ranks)
    ranks.push_back(max_rank(policy, key.shape.rows, key.shape.cols));
  return ranks;
}

}  // namespace

int BatchPlanner::batch_planes(const BatchKey& key) const {
  const BatchWorkload full = full_batch(key.shape, choose_ranks(key));
  return limit_planes_to_memory(target_batch_planes(key.shape, options_.batch_planes),
                                options_.lane_bytes,
                                plane_bytes(full, choose_solver(full), key.ranks.size()));
}

BatchPlan BatchPlanner::make_plan(const BatchKey& key) const {
  BatchPlan plan;
  plan.shape = key.shape;
  plan.ranks = choose_ranks(key);
  const BatchWorkload full = full_batch(plan.shape, plan.ranks);
  const SolverKind solver = choose_solver(full);
  plan.columns = full.columns;
  plan.solvers = solver_sequence(solver, options_.is_single_solver);
  plan.first_solver = first_solver(full, solver);
  plan.certificate = options_.certificate;
  plan.is_deterministic = options_.is_deterministic;
  plan.capacity = BatchCapacity::for_full_batch(batch_planes(key));
  return plan;
}

/// The workload that the solver is chosen for: a batch of the target size, even if memory limits
/// batches to fewer planes.
BatchWorkload BatchPlanner::full_batch(PaddedShape shape, const std::vector<int>& ranks) const {
  const int rank = ranks.empty() ? 1 : *std::max_element(ranks.begin(), ranks.end());
  const int columns = cuda_subspace_columns(rank, options_.max_float16_columns);
  const std::int64_t planes = target_batch_planes(shape, options_.batch_planes);
  return {shape, rank, columns, int(std::max<std::int64_t>(planes, 1)),
          columns > options_.max_float16_columns};
}

}  // namespace eckart::compute::cuda
