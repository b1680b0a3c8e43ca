#include "compute/cuda/plan/batch_plan.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/evict_if_full.hpp"

namespace eckart::compute::cuda {
namespace {

BatchPlan subspace_plan(std::size_t first_stage) {
  BatchPlan plan;
  for (const SolverStep solver : solver_sequence(SolverKind::subspace, false))
    plan.stages.push_back({solver, {20}, 48});
  plan.first_stage = first_stage;
  plan.capacity = BatchCapacity::for_full_batch(256);
  return plan;
}

TEST(CudaBatchPlan, recomputes_in_float64_what_float16_did_not_certify) {
  for (const int iterations : {IterationTuner::kMin, IterationTuner::kMax})
    EXPECT_EQ(subspace_plan(0).first_recompute_stage(iterations, 0), 1U);
}

TEST(CudaBatchPlan, repeats_float64_subspace_only_with_more_iterations) {
  for (int iterations = IterationTuner::kMin; iterations < IterationTuner::kMax; ++iterations)
    EXPECT_EQ(subspace_plan(1).first_recompute_stage(iterations, 0), 1U) << iterations;
  EXPECT_EQ(subspace_plan(1).first_recompute_stage(IterationTuner::kMax, 0), 2U);
}

/// Whole batches in float64 have a tuner of their own iterations.
TEST(CudaBatchPlan, repeats_float64_subspace_with_all_iterations) {
  BatchPlan plan = subspace_plan(1);
  EXPECT_EQ(plan.iterations(), IterationTuner::kInitial);
  EXPECT_EQ(plan.recompute_iterations(1, false), IterationTuner::kMax);
}

/// Few iterations suffice if rounding alone kept the planes from being certified.
TEST(CudaBatchPlan, retries_planes_that_need_more_iterations_with_all) {
  BatchPlan plan = subspace_plan(0);
  plan.stages[1].tuner = IterationTuner(3);
  plan.stages[1].is_retry = true;
  EXPECT_EQ(plan.recompute_iterations(1, false), 3);
  EXPECT_EQ(plan.recompute_iterations(1, true), IterationTuner::kMax);
}

TEST(CudaBatchPlan, ends_with_the_last_solver_of_the_sequence) {
  const BatchPlan plan = subspace_plan(0);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
    EXPECT_EQ(plan.is_last(stage), plan.stages[stage].solver == SolverStep::gesvd);
}

/// A plane is always computed in a batch of the same size, regardless of the other images.
TEST(CudaBatchPlan, pads_only_deterministic_batches_to_full_size) {
  BatchPlan plan = subspace_plan(0);
  EXPECT_EQ(plan.padded_planes(5, 32), 5);
  plan.is_deterministic = true;
  EXPECT_EQ(plan.padded_planes(5, 32), 32);
  EXPECT_EQ(plan.padded_planes(32, 32), 32);
  EXPECT_EQ(plan.padded_planes(3, 1), 3) << "the planes of an image stay together";
}

TEST(CudaBatchPlan, passes_deterministic_planes_to_sequential_solvers_one_by_one) {
  BatchPlan plan = subspace_plan(0);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage)
    EXPECT_EQ(plan.max_recompute_planes(stage), plan.capacity.recompute);
  plan.is_deterministic = true;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    EXPECT_EQ(plan.max_recompute_planes(stage),
              is_sequential(plan.stages[stage].solver) ? 1 : plan.capacity.recompute);
  }
}

TEST(CudaBatchPlan, learns_iterations_from_whole_batches_unless_deterministic) {
  for (const bool is_deterministic : {false, true}) {
    BatchPlan plan = subspace_plan(0);
    plan.is_deterministic = is_deterministic;
    plan.record_result(0, plan.iterations(),
                       std::vector(3, std::numeric_limits<double>::infinity()));
    EXPECT_EQ(plan.iterations(), IterationTuner::kInitial + (is_deterministic ? 0 : 1));
  }
}

BatchPlan adaptive_plan() {
  BatchPlan plan;
  plan.shape = {256, 256};
  plan.is_adaptive = true;
  for (const int rank : {20, 52, 100})
    plan.stages.push_back({SolverStep::float16_subspace, {rank}, rank + 28});
  plan.stages.push_back({SolverStep::float64_subspace, {20}, 48});
  plan.stages.push_back({SolverStep::gram, {256}, 256});
  plan.capacity = BatchCapacity::for_full_batch(256);
  plan.capacity.grow_for(256, false);
  return plan;
}

TEST(CudaBatchPlan, recomputes_images_with_the_block_that_covers_their_rank) {
  const BatchPlan plan = adaptive_plan();
  const auto stage_for = [&](const ImageNeeds& needs) {
    std::size_t stage = plan.first_recompute_stage(plan.iterations(), 0);
    while (!plan.suits(stage, needs)) ++stage;
    return stage;
  };
  EXPECT_EQ(stage_for({10}), 1U) << "of an image that needs more iterations";
  EXPECT_EQ(stage_for({30}), 1U);
  EXPECT_EQ(stage_for({50}), 2U) << "the estimate may be too low";
  EXPECT_EQ(stage_for({150}), 2U) << "the estimate may be too high";
  EXPECT_EQ(stage_for({152}), 4U);
  EXPECT_EQ(stage_for({10, true}), 3U);
  EXPECT_EQ(stage_for({18, true}), 4U) << "the block in float64 does not cover it for sure";
}

/// A complete decomposition of the new plan must not be skipped for the next, slower solver.
TEST(CudaBatchPlan, begins_with_the_first_stage_after_the_stages_were_replaced) {
  BatchPlan plan = adaptive_plan();
  EXPECT_EQ(plan.first_recompute_stage(6, plan.revision), 1U);
  ++plan.revision;
  EXPECT_EQ(plan.first_recompute_stage(6, plan.revision - 1), 0U);
}

TEST(CudaBatchPlan, recomputes_more_planes_at_a_time_with_a_block) {
  const BatchPlan plan = adaptive_plan();
  EXPECT_EQ(plan.max_recompute_planes(1), 4 * plan.max_recompute_planes(4));
  EXPECT_EQ(plan.recompute_iterations(1, true), IterationTuner::kInitial);
}

class CudaBatchPlanCacheTest : public ::testing::Test {
 protected:
  static BatchKey make_key(int side) { return {{side, side}, {{1}}}; }
  BatchPlan& get(int side, int in_flight = 0) {
    return cache_.get_or_make(make_key(side),
                              [&](const BatchKey& key) { return key == make_key(in_flight); });
  }

  BatchPlanner planner_{{.solver = SolverKind::gram, .costs = {}, .lane_bytes = 1e9}};
  BatchPlanCache cache_{planner_};
};

TEST_F(CudaBatchPlanCacheTest, keeps_what_a_plan_has_learned) {
  get(64).capacity.grow_for(3, false);
  const int reserved = get(64).capacity.current;
  EXPECT_GE(reserved, 3);
  get(96);
  EXPECT_EQ(get(64).capacity.current, reserved);
  EXPECT_EQ(&get(64), &cache_.at(make_key(64)));
  EXPECT_EQ(cache_.size(), 2U);
}

TEST_F(CudaBatchPlanCacheTest, keeps_only_what_is_in_flight_when_full) {
  for (int side = 1; side <= int(kMaxCacheEntries); ++side) get(side).capacity.current = 7;
  BatchPlan& in_flight = get(5);
  ASSERT_EQ(cache_.size(), kMaxCacheEntries);
  get(int(kMaxCacheEntries) + 1, 5);
  EXPECT_EQ(cache_.size(), 2U);
  EXPECT_EQ(&get(5), &in_flight) << "references to it remain valid";
  EXPECT_EQ(get(5).capacity.current, 7);
  EXPECT_EQ(get(6).capacity.current, 0) << "an evicted plan is created again";
}

}  // namespace
}  // namespace eckart::compute::cuda
