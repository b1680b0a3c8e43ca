#include "compute/cuda/plan/batch_plan.hpp"

#include <gtest/gtest.h>

#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/evict_if_full.hpp"

namespace eckart::compute::cuda {
namespace {

BatchPlan subspace_plan(std::size_t first_solver) {
  BatchPlan plan;
  plan.solvers = solver_sequence(SolverKind::subspace, false);
  plan.first_solver = first_solver;
  plan.capacity = BatchCapacity::for_full_batch(256);
  return plan;
}

TEST(CudaBatchPlan, recomputes_in_float64_what_float16_did_not_certify) {
  for (const int iterations : {IterationTuner::kMin, IterationTuner::kMax})
    EXPECT_EQ(subspace_plan(0).first_recompute_solver(iterations), 1U);
}

TEST(CudaBatchPlan, repeats_float64_subspace_only_with_more_iterations) {
  for (int iterations = IterationTuner::kMin; iterations < IterationTuner::kMax; ++iterations)
    EXPECT_EQ(subspace_plan(1).first_recompute_solver(iterations), 1U) << iterations;
  EXPECT_EQ(subspace_plan(1).first_recompute_solver(IterationTuner::kMax), 2U);
}

TEST(CudaBatchPlan, ends_with_the_last_solver_of_the_sequence) {
  const BatchPlan plan = subspace_plan(0);
  for (std::size_t solver = 0; solver < plan.solvers.size(); ++solver)
    EXPECT_EQ(plan.is_last(solver), plan.solvers[solver] == SolverStep::gesvd);
}

/// A plane is always computed in a batch of the same size, regardless of the other images.
TEST(CudaBatchPlan, pads_only_deterministic_batches_to_full_size) {
  BatchPlan plan = subspace_plan(0);
  EXPECT_EQ(plan.padded_planes(5, 32), 5);
  plan.is_deterministic = true;
  EXPECT_EQ(plan.padded_planes(5, 32), 32);
  EXPECT_EQ(plan.padded_planes(32, 32), 32);
}

TEST(CudaBatchPlan, passes_deterministic_planes_to_sequential_solvers_one_by_one) {
  BatchPlan plan = subspace_plan(0);
  for (std::size_t solver = 0; solver < plan.solvers.size(); ++solver)
    EXPECT_EQ(plan.max_recompute_planes(solver), plan.capacity.recompute);
  plan.is_deterministic = true;
  for (std::size_t solver = 0; solver < plan.solvers.size(); ++solver) {
    EXPECT_EQ(plan.max_recompute_planes(solver),
              is_sequential(plan.solvers[solver]) ? 1 : plan.capacity.recompute);
  }
}

TEST(CudaBatchPlan, learns_iterations_from_whole_batches_unless_deterministic) {
  for (const bool is_deterministic : {false, true}) {
    BatchPlan plan = subspace_plan(0);
    plan.is_deterministic = is_deterministic;
    plan.record_result(plan.tuner.next(), 100, 50, 0);
    EXPECT_EQ(plan.tuner.next(), IterationTuner::kInitial + (is_deterministic ? 0 : 1));
  }
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
