#include "compute/solver_choice.hpp"

#include <gtest/gtest.h>

namespace eckart {
namespace {

using enum SolverKind;

TEST(SolverChoice, takes_the_subspace_solver_where_few_vectors_are_wanted) {
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 20).solver, subspace);
  EXPECT_EQ(choose_solver(automatic, {224, 192}, 20).solver, subspace);
  EXPECT_EQ(choose_solver(automatic, {512, 512}, 50).solver, subspace);
}

TEST(SolverChoice, takes_the_full_eigensolver_where_many_are_wanted_or_the_matrix_is_small) {
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 100).solver, gram);
  EXPECT_EQ(choose_solver(automatic, {64, 64}, 20).solver, gram);
  EXPECT_EQ(choose_solver(automatic, {32, 32}, 1).solver, gram);
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 256).solver, gram);
}

TEST(SolverChoice, leaves_what_the_batched_eigensolver_cannot_index_to_gesvd) {
  EXPECT_EQ(choose_solver(automatic, {50000, 46340}, 1000).solver, gram);
  EXPECT_EQ(choose_solver(automatic, {50000, 46341}, 20).solver, gesvd);
}

TEST(SolverChoice, never_asks_the_subspace_solver_for_more_than_it_takes) {
  for (const SolverKind requested : {automatic, subspace}) {
    for (int cols = 1; cols <= 1024; cols += 31) {
      for (int rank = 1; rank <= cols; ++rank) {
        const SolverChoice choice = choose_solver(requested, {cols, cols}, rank);
        if (choice.solver != subspace) continue;
        EXPECT_LE(subspace_columns(rank), cols);
        EXPECT_LE(subspace_columns(rank), kMostSubspaceColumns);
      }
    }
  }
}

TEST(SolverChoice, follows_a_request_that_can_be_followed) {
  for (const SolverKind requested : {gram, gesvd, gesvdj}) {
    EXPECT_EQ(choose_solver(requested, {256, 256}, 20).solver, requested);
  }
  EXPECT_EQ(choose_solver(subspace, {64, 64}, 10).solver, subspace);
  EXPECT_EQ(choose_solver(subspace, {64, 64}, 60).solver, gram);
}

TEST(SolverChoice, oversamples) {
  for (int rank = 1; rank < 100; ++rank) EXPECT_GE(subspace_columns(rank), rank + 28);
}

TEST(SolverKind, is_read_back_from_its_name) {
  for (const SolverKind kind : {automatic, gram, subspace, gesvd, gesvdj}) {
    EXPECT_EQ(parse_solver(to_string(kind)), kind);
  }
  EXPECT_THROW(parse_solver("svd"), std::invalid_argument);
}

}  // namespace
}  // namespace eckart
