#include "compute/solver_choice.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace eckart {
namespace {

using enum SolverKind;

constexpr int kMost = 160;  // columns, on a device with much shared memory

TEST(SolverChoice, takes_the_subspace_solver_where_few_vectors_are_wanted) {
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 20, kMost), subspace);
  EXPECT_EQ(choose_solver(automatic, {224, 192}, 20, kMost), subspace);
  EXPECT_EQ(choose_solver(automatic, {512, 512}, 50, kMost), subspace);
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 100, kMost), subspace);
  EXPECT_EQ(choose_solver(automatic, {64, 64}, 20, kMost), subspace);
}

TEST(SolverChoice, takes_the_full_eigensolver_where_many_are_wanted_or_the_matrix_is_small) {
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 180, kMost), gram);
  EXPECT_EQ(choose_solver(automatic, {64, 64}, 21, kMost), gram);
  EXPECT_EQ(choose_solver(automatic, {32, 32}, 1, kMost), gram);
  EXPECT_EQ(choose_solver(automatic, {256, 256}, 256, kMost), gram);
}

TEST(SolverChoice, leaves_what_the_batched_eigensolver_cannot_index_to_gesvd) {
  // of a colour image's three planes: 3 * 26754^2 < 2^31
  EXPECT_EQ(choose_solver(automatic, {50000, 26754}, 1000, kMost), gram);
  EXPECT_EQ(choose_solver(automatic, {50000, 26755}, 20, kMost), gesvd);
}

TEST(SolverChoice, never_asks_the_subspace_solver_for_more_than_it_takes) {
  for (const auto& [requested, most] :
       {std::pair{automatic, 160}, {subspace, 160}, {automatic, 80}, {subspace, 80}}) {
    for (int cols = 1; cols <= 1024; cols += 31) {
      for (int rank = 1; rank <= cols; ++rank) {
        const SolverKind choice = choose_solver(requested, {cols, cols}, rank, most);
        if (choice != subspace) continue;
        EXPECT_LE(subspace_columns(rank), cols);
        EXPECT_LE(subspace_columns(rank), most);
      }
    }
  }
}

TEST(SolverChoice, follows_a_request_that_can_be_followed) {
  for (const SolverKind requested : {gram, gesvd, gesvdj}) {
    EXPECT_EQ(choose_solver(requested, {256, 256}, 20, kMost), requested);
  }
  EXPECT_EQ(choose_solver(subspace, {64, 64}, 10, kMost), subspace);
  EXPECT_EQ(choose_solver(subspace, {64, 64}, 60, kMost), gram);
}

TEST(SolverChoice, heeds_what_the_device_can_hold) {
  EXPECT_EQ(choose_solver(automatic, {512, 512}, 50, subspace_columns(50)), subspace);
  EXPECT_EQ(choose_solver(automatic, {512, 512}, 50, subspace_columns(50) - 1), gram);
}

TEST(SolverChoice, oversamples) {
  for (int rank = 1; rank < 100; ++rank) EXPECT_GE(subspace_columns(rank), rank + 28);
}

TEST(Rounds, rise_where_many_planes_want_more) {
  EXPECT_EQ(next_rounds(4, 100, 2, 0.005), 5);
  EXPECT_EQ(next_rounds(4, 100, 1, 0.005), 4) << "one is done again";
  EXPECT_EQ(next_rounds(4, 4, 1, 0.005), 5);
  EXPECT_EQ(next_rounds(kMostRounds, 100, 100, 0), kMostRounds);
}

TEST(Rounds, fall_where_all_planes_are_far_better_than_the_bar) {
  EXPECT_EQ(next_rounds(4, 100, 0, 1e-6), 3);
  EXPECT_EQ(next_rounds(4, 100, 0, 1e-3), 4);
  EXPECT_EQ(next_rounds(4, 200, 1, 1e-6), 4) << "not while another wants more";
  EXPECT_EQ(next_rounds(kFewestRounds, 100, 0, 0), kFewestRounds);
}

TEST(SolverKind, is_read_back_from_its_name) {
  for (const SolverKind kind : {automatic, gram, subspace, gesvd, gesvdj}) {
    EXPECT_EQ(parse_solver(to_string(kind)), kind);
  }
  EXPECT_THROW(parse_solver("svd"), std::invalid_argument);
}

}  // namespace
}  // namespace eckart
