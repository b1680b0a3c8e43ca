#include "compute/cuda/plan/batch_planner.hpp"

#include <algorithm>
#include <cstdint>

#include "compute/cuda/plan/subspace_columns.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute::cuda {
namespace {

std::vector<int> choose_ranks(const BatchKey& key) {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < key.ranks.size(); ++i) ranks.push_back(key.max_rank(i));
  return ranks;
}

/// Whether a rank depends on all singular values.
bool needs_all_values(const BatchKey& key) {
  const auto needs_all = [](const RankPolicy& policy) {
    return needs_full_spectrum(rule_kind(policy));
  };
  return std::ranges::any_of(key.ranks, needs_all) ||
         (key.chroma_rank && needs_all(*key.chroma_rank));
}

/// Whether only a complete decomposition gives what is wanted.
bool needs_complete_decomposition(const BatchKey& key) {
  return key.wants_spectrum || key.has_factor_rank();
}

/// Limits the ranks that depend on singular values to `covered_rank`.
void cover_rank(const BatchKey& key, int covered_rank, std::vector<int>& ranks) {
  const auto covered = [&](const RankPolicy& policy) {
    const int largest = max_rank(policy, key.shape.rows, key.shape.cols);
    return depends_on_shape_only(policy) ? largest : std::min(largest, covered_rank);
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = covered(key.ranks[i]);
    if (key.chroma_rank) ranks[i] = std::max(ranks[i], covered(*key.chroma_rank));
  }
}

}  // namespace

int BatchPlanner::batch_planes(const BatchKey& key) const {
  const BatchWorkload full = full_batch(key, choose_ranks(key));
  // An adaptive batch may need memory for all ranks.
  const SolverKind solver = key.has_plane_ranks() || needs_complete_decomposition(key)
                                ? SolverKind::gram
                                : choose_solver(full);
  return limit_planes_to_memory(target_batch_planes(key.shape, options_.batch_planes),
                                options_.lane_bytes,
                                plane_bytes(full, solver, key.ranks.size(), key.has_float_samples,
                                            key.min_factor_rank ? full.rank : 0));
}

BatchPlan BatchPlanner::make_plan(const BatchKey& key) const {
  return make_plan(key, RankTuner(key.shape.cols));
}

BatchPlan BatchPlanner::make_plan(const BatchKey& key, const RankTuner& rank_tuner) const {
  BatchPlan plan;
  plan.shape = key.shape;
  plan.ranks = choose_ranks(key);
  plan.is_adaptive = key.has_plane_ranks();
  if (plan.is_adaptive) {
    plan.rank_tuner = rank_tuner;
    plan.covered_rank = rank_tuner.next();
    if (!needs_all_values(key)) cover_rank(key, plan.covered_rank, plan.ranks);
  }
  const BatchWorkload full = full_batch(key, plan.ranks);
  const SolverKind solver =
      choose_solver(needs_complete_decomposition(key) ? full_batch(key, {plan.shape.cols}) : full);
  plan.columns = full.columns;
  plan.solvers = plan.is_adaptive ? adaptive_solver_sequence(full, solver)
                                  : solver_sequence(solver, options_.is_single_solver);
  plan.first_solver = plan.is_adaptive ? 0 : first_solver(full, solver);
  plan.certificate = options_.certificate;
  plan.is_deterministic = options_.is_deterministic;
  plan.capacity = BatchCapacity::for_full_batch(batch_planes(key));
  return plan;
}

/// The workload that the solver is chosen for: a batch of the target size, even if memory limits
/// batches to fewer planes.
BatchWorkload BatchPlanner::full_batch(const BatchKey& key, const std::vector<int>& ranks) const {
  const int rank = ranks.empty() ? 1 : *std::max_element(ranks.begin(), ranks.end());
  const int columns = key.min_factor_rank
                          ? cuda_factor_columns(rank, options_.max_float16_columns)
                          : cuda_subspace_columns(rank, options_.max_float16_columns);
  const std::int64_t planes = target_batch_planes(key.shape, options_.batch_planes);
  return {key.shape, rank, columns, int(std::max<std::int64_t>(planes, 1)),
          key.has_float_samples || columns > options_.max_float16_columns};
}

}  // namespace eckart::compute::cuda
