#include "compute/cuda/plan/batch_planner.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "compute/cost_model.hpp"
#include "compute/cuda/plan/rank_cover.hpp"
#include "compute/cuda/plan/subspace_columns.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute::cuda {
namespace {

// The fixed time of a part of a batch, as samples that take as long.
constexpr double kPartSamples = double(1 << 21);
// Numbers of columns that are compared for an adaptive plan.
constexpr std::size_t kMaxCandidates = 32;

// Of a solver that computes the planes that another one left uncertified.
const IterationTuner kRetryTuner{IterationTuner::kMax};
// Of a block that another one follows: to compute some planes again takes less time than one more
// iteration for all.
const IterationTuner kBlockTuner{IterationTuner::kInitial, 0.04};
// The block in float64 covers at least this share of all ranks.
constexpr int kPreciseRankDivisor = 8;

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

/// The largest rank of each output, if those that depend on singular values are limited to
/// `covered_rank`.
std::vector<int> covered_ranks(const BatchKey& key, int covered_rank) {
  std::vector<int> ranks = choose_ranks(key);
  const auto covered = [&](const RankPolicy& policy) {
    const int largest = max_rank(policy, key.shape.rows, key.shape.cols);
    return depends_on_shape_only(policy) ? largest : std::min(largest, covered_rank);
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] = covered(key.ranks[i]);
    if (key.chroma_rank) ranks[i] = std::max(ranks[i], covered(*key.chroma_rank));
  }
  return ranks;
}

/// Takes over what the stage with the same solver and the most similar number of columns has
/// learned.
void learn_from(std::span<const Stage> stages, Stage& stage) {
  int smallest = std::numeric_limits<int>::max();
  for (const Stage& other : stages) {
    const int difference = std::abs(other.columns - stage.columns);
    if (other.solver != stage.solver || other.is_retry != stage.is_retry || difference >= smallest)
      continue;
    smallest = difference;
    stage.tuner.learn_from(other.tuner);
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
  BatchPlan plan;
  plan.shape = key.shape;
  plan.is_adaptive = key.has_plane_ranks();
  plan.certificate = options_.certificate;
  plan.is_deterministic = options_.is_deterministic;
  plan.capacity = BatchCapacity::for_full_batch(batch_planes(key));
  if (plan.is_adaptive) {
    plan.rank_history = RankHistory(key.shape.cols);
    plan.covers = covers(key, plan.rank_history);
    plan.stages = adaptive_stages(key, plan.covers);
    return plan;
  }
  const std::vector<int> ranks = choose_ranks(key);
  const BatchWorkload full = full_batch(key, ranks);
  const SolverKind solver =
      choose_solver(needs_complete_decomposition(key) ? full_batch(key, {plan.shape.cols}) : full);
  plan.first_stage = first_solver(full, solver);
  for (const SolverStep step : solver_sequence(solver, options_.is_single_solver)) {
    const bool is_retry = is_subspace(step) && plan.stages.size() > plan.first_stage;
    plan.stages.push_back(
        {step, ranks, full.columns, is_retry ? kRetryTuner : IterationTuner(), is_retry});
  }
  return plan;
}

void BatchPlanner::update_covers(const BatchKey& key, BatchPlan& plan) const {
  std::vector<int> wanted = covers(key, plan.rank_history);
  if (wanted == plan.covers) return;
  std::vector<Stage> stages = adaptive_stages(key, wanted);
  for (Stage& stage : stages) learn_from(plan.stages, stage);
  plan.covers = std::move(wanted);
  plan.stages = std::move(stages);
  ++plan.revision;
}

/// The ranks that blocks of columns cover. None if a complete decomposition is needed or faster.
std::vector<int> BatchPlanner::covers(const BatchKey& key, const RankHistory& history) const {
  if (needs_all_values(key) || needs_complete_decomposition(key)) return {};
  const auto seconds = [this](SolverKind solver, const BatchWorkload& batch) {
    return estimate_seconds(solver, batch, options_.costs) / batch.planes;
  };
  std::vector<CoverCost> candidates;
  for (const int rank : ranks_by_columns(key)) {
    const BatchWorkload batch = full_batch(key, covered_ranks(key, rank));
    if (chooser_.estimate(batch, kMaxGramColumns) != SolverKind::subspace) break;
    candidates.push_back({rank, seconds(SolverKind::subspace, batch)});
  }
  const double complete = seconds(SolverKind::gram, full_batch(key, {key.shape.cols}));
  const double part_planes = kPartSamples / (double(key.shape.rows) * double(key.shape.cols));
  return choose_covers(candidates, complete, history.counts(), part_planes, batch_planes(key));
}

std::vector<Stage> BatchPlanner::adaptive_stages(const BatchKey& key,
                                                 std::span<const int> covers) const {
  using enum SolverStep;
  std::vector<Stage> stages;
  const auto is_float16 = [](const Stage& stage) { return stage.solver == float16_subspace; };
  for (const int cover : covers) {
    const std::vector<int> ranks = covered_ranks(key, cover);
    const BatchWorkload batch = full_batch(key, ranks);
    if (stages.empty()) choose_solver(batch);  // for the report
    const bool is_last = cover == covers.back();
    stages.push_back({batch.is_float64 ? float64_subspace : float16_subspace, ranks, batch.columns,
                      is_last ? IterationTuner() : kBlockTuner});
  }
  if (!stages.empty() && is_float16(stages.front())) {
    // Most planes for which float16 is not precise enough have a low rank.
    const int cover = std::max(covers.front(), key.shape.cols / kPreciseRankDivisor);
    const std::vector<int> ranks = covered_ranks(key, cover);
    const Stage retry{float64_subspace, ranks, full_batch(key, ranks).columns, kRetryTuner, true};
    const auto next = std::ranges::find_if_not(stages, is_float16);
    if (next == stages.end() || retry.largest_rank() < next->largest_rank())
      stages.insert(next, retry);
  }
  const std::vector<int> all(key.ranks.size(), key.shape.cols);
  const BatchWorkload batch = full_batch(key, all);
  const SolverKind complete =
      covers.empty() ? choose_solver(batch) : chooser_.estimate(batch, kMaxGramColumns);
  for (const SolverStep step : solver_sequence(complete, /*is_single_solver=*/false))
    stages.push_back({step, all, batch.columns});
  return stages;
}

/// For each number of columns, the largest rank that it suffices for. At most kMaxCandidates.
std::vector<int> BatchPlanner::ranks_by_columns(const BatchKey& key) const {
  std::vector<int> ranks;
  for (int rank = 1; rank < key.shape.cols; ++rank) {
    if (columns(key, rank) < columns(key, rank + 1)) ranks.push_back(rank);
  }
  const std::size_t step = (ranks.size() + kMaxCandidates - 1) / kMaxCandidates;
  std::vector<int> candidates;
  for (std::size_t i = 0; i < ranks.size(); i += step) candidates.push_back(ranks[i]);
  return candidates;
}

int BatchPlanner::columns(const BatchKey& key, int rank) const {
  return key.min_factor_rank ? cuda_factor_columns(rank, options_.max_float16_columns)
                             : cuda_subspace_columns(rank, options_.max_float16_columns);
}

/// The workload that the solver is chosen for: a batch of the target size, even if memory limits
/// batches to fewer planes.
BatchWorkload BatchPlanner::full_batch(const BatchKey& key, const std::vector<int>& ranks) const {
  const int rank = ranks.empty() ? 1 : *std::max_element(ranks.begin(), ranks.end());
  const int columns = this->columns(key, rank);
  const std::int64_t planes = target_batch_planes(key.shape, options_.batch_planes);
  return {key.shape, rank, columns, int(std::max<std::int64_t>(planes, 1)),
          key.has_float_samples || columns > options_.max_float16_columns};
}

}  // namespace eckart::compute::cuda
