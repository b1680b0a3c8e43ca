#include "compute/cuda/plan/solver_sequence.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace eckart::compute::cuda {
namespace {

using enum SolverStep;

TEST(CudaSolverSequence, follows_each_solver_by_a_more_accurate_one) {
  for (const bool is_single_solver : {false, true}) {
    EXPECT_EQ(solver_sequence(SolverKind::subspace, is_single_solver),
              (std::vector{float16_subspace, float64_subspace, gram, gesvd}));
    EXPECT_EQ(solver_sequence(SolverKind::gesvd, is_single_solver), std::vector{gesvd});
    EXPECT_EQ(solver_sequence(SolverKind::gesvdj, is_single_solver), std::vector{gesvdj});
  }
  EXPECT_EQ(solver_sequence(SolverKind::gram, false), (std::vector{gram, gesvd}));
}

TEST(CudaSolverSequence, ends_with_gram_if_requested) {
  EXPECT_EQ(solver_sequence(SolverKind::gram, true), std::vector{gram});
}

TEST(CudaSolverSequence, rejects_automatic) {
  EXPECT_THROW(solver_sequence(SolverKind::automatic, false), std::logic_error);
}

TEST(CudaSolverSequence, starts_with_float64_if_float16_takes_too_few_columns) {
  const BatchWorkload float16{{512, 512}, 20, 48, 256, false},
      float64{{512, 512}, 200, 256, 256, true};
  EXPECT_EQ(first_solver(float16, SolverKind::subspace), 0U);
  EXPECT_EQ(first_solver(float64, SolverKind::subspace), 1U);
  EXPECT_EQ(solver_sequence(SolverKind::subspace, false)[1], float64_subspace);
  for (const SolverKind solver : {SolverKind::gram, SolverKind::gesvd, SolverKind::gesvdj})
    EXPECT_EQ(first_solver(float64, solver), 0U) << to_string(solver);
}

TEST(CudaSolverSequence, is_sequential_in_gesvd_and_gesvdj) {
  EXPECT_TRUE(is_sequential(gesvd));
  EXPECT_TRUE(is_sequential(gesvdj));
  for (const SolverStep step : {float16_subspace, float64_subspace, gram})
    EXPECT_FALSE(is_sequential(step));
}

}  // namespace
}  // namespace eckart::compute::cuda
