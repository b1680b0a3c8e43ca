#include "compute/cuda/plan/batch_planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compute/cuda/plan/built_in_costs.hpp"
#include "compute/cuda/plan/subspace_columns.hpp"

namespace eckart::compute::cuda {
namespace {

using enum SolverStep;

constexpr double kGibibyte = 1 << 30;
constexpr int kMaxFloat16Columns = 192;

PlannerOptions h200() {
  return {.costs = kBuiltInCudaCosts,
          .max_float16_columns = kMaxFloat16Columns,
          .lane_bytes = 28 * kGibibyte};
}
BatchKey make_key(int rows, int cols, std::vector<RankPolicy> ranks = {{20}}) {
  return {{rows, cols}, std::move(ranks)};
}

TEST(CudaBatchPlanner, plans_subspace_in_float16_at_low_rank) {
  const BatchPlan plan = BatchPlanner(h200()).make_plan(make_key(512, 256));
  EXPECT_EQ(plan.shape, (PaddedShape{512, 256}));
  EXPECT_EQ(plan.solvers(), solver_sequence(SolverKind::subspace, false));
  EXPECT_EQ(plan.stages[plan.first_stage].solver, float16_subspace);
  EXPECT_EQ(plan.stages[0].columns, cuda_subspace_columns(20, kMaxFloat16Columns));
  EXPECT_EQ(plan.iterations(), IterationTuner::kInitial);
  EXPECT_EQ(plan.capacity.current, 0) << "nothing is reserved before the first batch";
  EXPECT_EQ(plan.capacity.full, 512);
}

TEST(CudaBatchPlanner, plans_subspace_in_float64_above_the_float16_columns) {
  const BatchPlan plan = BatchPlanner(h200()).make_plan(make_key(1024, 1024, {{200}}));
  EXPECT_EQ(plan.stages[plan.first_stage].solver, float64_subspace);
  EXPECT_GT(plan.stages[0].columns, kMaxFloat16Columns);
  PlannerOptions small = h200();
  small.max_float16_columns = 112;
  const BatchPlan on_older_gpu = BatchPlanner(small).make_plan(make_key(1024, 1024, {{100}}));
  EXPECT_EQ(on_older_gpu.stages[on_older_gpu.first_stage].solver, float64_subspace)
      << "the GPU with the least shared memory decides";
}

TEST(CudaBatchPlanner, plans_gram_if_the_subspace_would_be_nearly_full) {
  const BatchPlan plan = BatchPlanner(h200()).make_plan(make_key(32, 32));
  EXPECT_EQ(plan.solvers(), (std::vector{gram, gesvd}));
  EXPECT_EQ(plan.first_stage, 0U);
}

TEST(CudaBatchPlanner, follows_the_requested_solver) {
  PlannerOptions options = h200();
  options.solver = SolverKind::gram;
  options.is_single_solver = true;
  EXPECT_EQ(BatchPlanner(options).make_plan(make_key(512, 512)).solvers(), std::vector{gram});
  options.solver = SolverKind::gesvdj;
  EXPECT_EQ(BatchPlanner(options).make_plan(make_key(512, 512)).solvers(), std::vector{gesvdj});
}

/// Subspace iteration has only the leading singular values.
TEST(CudaBatchPlanner, plans_a_complete_decomposition_if_the_spectrum_is_wanted) {
  BatchKey key = make_key(512, 256);
  key.wants_spectrum = true;
  const BatchPlan plan = BatchPlanner(h200()).make_plan(key);
  EXPECT_EQ(plan.solvers(), (std::vector{gram, gesvd}));
  EXPECT_EQ(plan.problem(0, 1, 1).rank(), 20);
  PlannerOptions options = h200();
  options.solver = SolverKind::subspace;
  key.ranks = {RankPolicy(RankPolicy::Kind::psnr, 30)};
  EXPECT_EQ(BatchPlanner(options).make_plan(key).solvers(), (std::vector{gram, gesvd}));
}

TEST(CudaBatchPlanner, plans_a_complete_decomposition_if_all_factors_are_wanted) {
  BatchKey key = make_key(512, 256, {{20}, {100}});
  key.min_factor_rank = 0;
  EXPECT_EQ(BatchPlanner(h200()).make_plan(key).solvers(),
            solver_sequence(SolverKind::subspace, false));
  key.min_factor_rank = 100;  // the second rank
  EXPECT_EQ(BatchPlanner(h200()).make_plan(key).solvers(), (std::vector{gram, gesvd}));
}

/// Singular vectors converge later than outputs.
TEST(CudaBatchPlanner, plans_more_columns_for_factors) {
  const BatchPlanner planner(h200());
  BatchKey key = make_key(512, 512);
  EXPECT_EQ(planner.make_plan(key).stages[0].columns, 48);
  key.min_factor_rank = 0;
  EXPECT_EQ(planner.make_plan(key).stages[0].columns, 64);
  // These are more than three quarters of the columns, those without factors are not.
  key = make_key(128, 128, {{50}});
  key.min_factor_rank = 0;
  EXPECT_EQ(planner.make_plan(key).solvers(), (std::vector{gram, gesvd}));
  key.min_factor_rank = {};
  EXPECT_EQ(planner.make_plan(key).solvers(), solver_sequence(SolverKind::subspace, false));
}

TEST(CudaBatchPlanner, plans_more_memory_for_factors) {
  for (const RankPolicy& rank : {RankPolicy(200), RankPolicy(RankPolicy::Kind::energy, 0.9)}) {
    PlannerOptions options = h200();
    options.lane_bytes = kGibibyte;
    BatchKey key = make_key(1024, 1024, {rank});
    const int plain = BatchPlanner(options).batch_planes(key);
    key.min_factor_rank = 0;
    EXPECT_LT(BatchPlanner(options).batch_planes(key), plain);
  }
}

/// The float16 kernels read integers only.
TEST(CudaBatchPlanner, plans_float64_for_float_samples) {
  for (const RankPolicy& rank : {RankPolicy(20), RankPolicy(RankPolicy::Kind::psnr, 30)}) {
    for (const SolverKind solver : {SolverKind::automatic, SolverKind::subspace}) {
      BatchKey key = make_key(512, 512, {rank});
      PlannerOptions options = h200();
      options.solver = solver;
      const BatchPlan integers = BatchPlanner(options).make_plan(key);
      EXPECT_EQ(integers.stages[integers.first_stage].solver, float16_subspace);
      key.has_float_samples = true;
      const BatchPlan floats = BatchPlanner(options).make_plan(key);
      for (std::size_t i = floats.first_stage; i < floats.stages.size(); ++i)
        EXPECT_NE(floats.stages[i].solver, float16_subspace);
      EXPECT_GE(floats.first_recompute_stage(1, 0), floats.first_stage);
    }
  }
}

TEST(CudaBatchPlanner, plans_more_memory_for_float_samples) {
  PlannerOptions options = h200();
  options.solver = SolverKind::gram;
  options.lane_bytes = 2 * kGibibyte;
  BatchKey key = make_key(1024, 1024);
  const int integers = BatchPlanner(options).batch_planes(key);
  key.has_float_samples = true;
  EXPECT_LT(BatchPlanner(options).batch_planes(key), integers);
}

/// A fixed rank needs its factors, whatever the other rank is chosen by.
TEST(CudaBatchPlanner, covers_a_fixed_rank_beside_a_rank_by_quality) {
  const RankPolicy fixed(200), energy(RankPolicy::Kind::energy, 0.9);
  BatchKey key = make_key(512, 512, {fixed});
  key.chroma_rank = energy;
  EXPECT_EQ(BatchPlanner(h200()).make_plan(key).stages[0].ranks, std::vector{200});
  key = make_key(512, 512, {energy});
  key.chroma_rank = fixed;
  EXPECT_EQ(BatchPlanner(h200()).make_plan(key).stages[0].ranks, std::vector{200});
}

/// The blocks of an adaptive plan: the ranks that they cover.
std::vector<int> covered_ranks(const BatchPlan& plan) {
  std::vector<int> covered;
  for (const Stage& stage : plan.stages)
    if (stage.solver == float16_subspace) covered.push_back(stage.ranks.front());
  return covered;
}

TEST(CudaBatchPlanner, covers_more_and_more_ranks) {
  const BatchKey key = make_key(512, 512, {{RankPolicy::Kind::psnr, 30}});
  const BatchPlan plan = BatchPlanner(h200()).make_plan(key);
  const std::vector<int> covered = covered_ranks(plan);
  ASSERT_GE(covered.size(), 2U);
  for (std::size_t i = 1; i < covered.size(); ++i) {
    EXPECT_GT(covered[i], covered[i - 1]);
    EXPECT_GT(plan.stages[i].columns, plan.stages[i - 1].columns);
  }
  const std::vector<SolverStep> solvers = plan.solvers();
  EXPECT_EQ(std::vector(solvers.end() - 3, solvers.end()),
            (std::vector{float64_subspace, gram, gesvd}));
  EXPECT_EQ(plan.stages[covered.size()].ranks, std::vector{std::max(covered[0], 512 / 8)})
      << "in float64";
  EXPECT_TRUE(plan.stages[covered.size()].is_retry);
  EXPECT_EQ(plan.stages.back().ranks, std::vector{512}) << "has all ranks";
}

TEST(CudaBatchPlanner, covers_the_ranks_that_earlier_batches_needed) {
  const BatchKey key = make_key(512, 512, {{RankPolicy::Kind::psnr, 30}});
  const BatchPlanner planner(h200());
  BatchPlan plan = planner.make_plan(key);
  plan.stages[0].tuner.update(plan.iterations(),
                              std::vector(3, std::numeric_limits<double>::infinity()));
  const int iterations = plan.iterations();
  plan.record_ranks(std::vector{18, 20, 19, 17, 90, 20, 18});
  planner.update_covers(key, plan);
  const std::vector<int> covered = covered_ranks(plan);
  ASSERT_EQ(covered.size(), 2U);
  EXPECT_GE(covered[0], 24);
  EXPECT_LT(covered[0], 50);
  EXPECT_GE(covered[1], 101);
  EXPECT_LT(covered[1], 130);
  EXPECT_EQ(plan.iterations(), iterations) << "what the tuner has learned is kept";
  EXPECT_EQ(plan.revision, 1);
  planner.update_covers(key, plan);
  EXPECT_EQ(plan.revision, 1) << "the same covers";
}

TEST(CudaBatchPlanner, covers_nothing_if_all_values_are_needed) {
  for (const RankPolicy& rank : {RankPolicy(RankPolicy::Kind::gavish_donoho, 0),
                                 RankPolicy(RankPolicy::Kind::marchenko_pastur, 0)}) {
    const BatchPlan plan = BatchPlanner(h200()).make_plan(make_key(512, 512, {rank}));
    EXPECT_EQ(plan.solvers(), (std::vector{gram, gesvd}));
  }
}

TEST(CudaBatchPlanner, limits_ranks_to_the_sides) {
  const BatchPlan plan =
      BatchPlanner(h200()).make_plan(make_key(96, 64, std::vector<RankPolicy>{{5}, {1000}, {64}}));
  EXPECT_EQ(plan.stages[0].ranks, (std::vector{5, 64, 64}))
      << "one an output, in the order of the policies";
  const Problem problem = plan.problem(0, 7, 3);
  EXPECT_EQ(problem.m, 96);
  EXPECT_EQ(problem.n, 64);
  EXPECT_EQ(problem.count, 7);
  EXPECT_EQ(problem.rank(), 64);
  EXPECT_EQ(problem.columns, plan.stages[0].columns);
  EXPECT_EQ(problem.iterations, 3);
}

TEST(CudaBatchPlanner, limits_batches_to_the_memory_of_a_lane) {
  const BatchKey large = make_key(8192, 8192);
  int before = 0;
  for (const double gib : {0.001, 1.0, 4.0, 16.0, 64.0}) {
    PlannerOptions options = h200();
    options.lane_bytes = gib * kGibibyte;
    const int planes = BatchPlanner(options).batch_planes(large);
    EXPECT_GE(planes, std::max(1, before)) << "at least one plane is tried";
    before = planes;
  }
  EXPECT_EQ(before, 4);
}

TEST(CudaBatchPlanner, plans_more_memory_for_more_outputs) {
  PlannerOptions options = h200();
  options.lane_bytes = 2 * kGibibyte;
  const BatchPlanner planner(options);
  EXPECT_LT(planner.batch_planes(make_key(1024, 1024, {{5}, {10}, {15}, {20}})),
            planner.batch_planes(make_key(1024, 1024)));
}

TEST(CudaBatchPlanner, prefers_the_requested_batch_size_to_the_default) {
  PlannerOptions options = h200();
  options.batch_planes = 5;
  EXPECT_EQ(BatchPlanner(options).batch_planes(make_key(256, 256)), 5);
  EXPECT_EQ(BatchPlanner(options).make_plan(make_key(256, 256)).capacity.full, 5);
}

TEST(CudaBatchPlanner, reports_its_choices) {
  const BatchPlanner planner(h200());
  EXPECT_TRUE(planner.solver_choices().empty());
  planner.make_plan(make_key(256, 256));
  planner.batch_planes(make_key(512, 512));
  ASSERT_EQ(planner.solver_choices().size(), 2U);
  EXPECT_EQ(planner.solver_choices()[0].batch.shape, (PaddedShape{512, 512}));
  EXPECT_EQ(planner.solver_choices()[1].solver, SolverKind::subspace);
}

}  // namespace
}  // namespace eckart::compute::cuda
