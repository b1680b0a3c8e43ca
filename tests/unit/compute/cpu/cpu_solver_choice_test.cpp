#include "compute/cpu/cpu_solver_choice.hpp"

#include <gtest/gtest.h>

namespace eckart::cpu {
namespace {

using enum SolverKind;

TEST(CpuSolverChoice, iterates_where_not_nearly_all_vectors_are_wanted) {
  EXPECT_EQ(choose_solver(automatic, 256, 20), subspace);
  EXPECT_EQ(choose_solver(automatic, 256, 150), subspace);
  EXPECT_EQ(choose_solver(automatic, 512, 50), subspace);
  EXPECT_EQ(choose_solver(automatic, 64, 5), subspace);
}

TEST(CpuSolverChoice, takes_the_full_eigendecomposition_where_many_are_or_the_plane_is_small) {
  EXPECT_EQ(choose_solver(automatic, 256, 160), gram);
  EXPECT_EQ(choose_solver(automatic, 256, 256), gram);
  EXPECT_EQ(choose_solver(automatic, 32, 1), gram);
  EXPECT_EQ(choose_solver(automatic, 1, 1), gram);
}

TEST(CpuSolverChoice, follows_a_request_that_can_be_followed) {
  for (const SolverKind requested : {gram, gesvd, gesvdj}) {
    EXPECT_EQ(choose_solver(requested, 256, 20), requested);
  }
  EXPECT_EQ(choose_solver(subspace, 48, 5), subspace);
  EXPECT_EQ(choose_solver(subspace, 48, 40), gram);
}

TEST(CpuSolverChoice, never_iterates_on_as_many_columns_as_there_are) {
  for (int n = 1; n < 600; n += 13) {
    for (int rank = 1; rank <= n; ++rank) {
      for (const SolverKind requested : {automatic, subspace}) {
        if (choose_solver(requested, n, rank) != subspace) continue;
        EXPECT_LT(subspace_columns(rank), n);
      }
    }
  }
}

TEST(CpuSolverChoice, oversamples) {
  for (int rank = 1; rank < 300; ++rank) {
    EXPECT_GE(subspace_columns(rank), rank + 20);
    EXPECT_GE(4 * subspace_columns(rank), 5 * rank - 3);
  }
}

}  // namespace
}  // namespace eckart::cpu
