#include "compute/solver_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "compute/built_in_costs.hpp"
#include "compute/cost_model.hpp"
#include "compute/make_room.hpp"

namespace eckart {
namespace {

using enum SolverKind;
using ::testing::HasSubstr;

constexpr int kMostGram = 26754;

/// CUDA, on a device with much shared memory.
constexpr int kMostNarrow = 192;
int cuda_columns(int rank) { return subspace_columns(rank, kMostNarrow); }
BatchSize batch(int rows, int cols, int rank) {
  const int columns = cuda_columns(rank);
  return {{rows, cols}, rank, columns, 64, columns > kMostNarrow};
}

SolverKind cuda(int rows, int cols, int rank) {
  return choose_solver(automatic, batch(rows, cols, rank), kMostGram, kCudaCosts).solver;
}

int cpu_columns(int rank) { return (rank + std::max(20, rank / 4) + 15) / 16 * 16; }

/// As the CPU's lanes ask: a plane at a time.
SolverKind cpu(int rows, int cols, int rank) {
  return choose_solver(automatic, {{rows, cols}, rank, cpu_columns(rank), 1}, INT_MAX, kCpuCosts)
      .solver;
}

TEST(SolverChoice, takes_the_subspace_solver_where_few_vectors_are_wanted) {
  EXPECT_EQ(cuda(256, 256, 20), subspace);
  EXPECT_EQ(cuda(224, 192, 20), subspace);
  EXPECT_EQ(cuda(512, 512, 50), subspace);
  EXPECT_EQ(cuda(256, 256, 100), subspace);
  EXPECT_EQ(cuda(64, 64, 20), subspace);
  EXPECT_EQ(cuda(2048, 2048, 128), subspace);
  EXPECT_EQ(cuda(1024, 1024, 200), subspace);
  EXPECT_EQ(cuda(4000, 3000, 500), subspace);
  EXPECT_EQ(cpu(256, 256, 20), subspace);
  EXPECT_EQ(cpu(256, 256, 100), subspace);
  EXPECT_EQ(cpu(512, 512, 50), subspace);
  EXPECT_EQ(cpu(64, 64, 12), subspace);
}

TEST(SolverChoice, takes_the_full_eigensolver_where_many_are_wanted_or_the_matrix_is_small) {
  EXPECT_EQ(cuda(256, 256, 180), gram);
  EXPECT_EQ(cuda(64, 64, 21), gram);
  EXPECT_EQ(cuda(32, 32, 1), gram);
  EXPECT_EQ(cuda(256, 256, 256), gram);
  EXPECT_EQ(cpu(256, 256, 150), gram);
  EXPECT_EQ(cpu(256, 256, 180), gram);
  EXPECT_EQ(cpu(256, 256, 256), gram);
  EXPECT_EQ(cpu(48, 48, 1), gram);
  EXPECT_EQ(cpu(32, 32, 1), gram);
  EXPECT_EQ(cpu(1, 1, 1), gram);
}

TEST(SolverChoice, turns_to_gram_once_as_the_rank_rises) {
  for (const auto& [choose, columns] : {std::pair{&cuda, &cuda_columns}, {&cpu, &cpu_columns}}) {
    for (const int side : {128, 256, 512}) {
      int turns = 0;
      SolverKind last = subspace;
      for (int rank = side / 8; rank <= side; ++rank) {
        if (columns(rank) == columns(rank + 1)) continue;  // the most of as many columns
        const SolverKind next = choose(side, side, rank);
        turns += next != last;
        last = next;
      }
      EXPECT_EQ(turns, 1) << side;
      EXPECT_EQ(last, gram) << side;
    }
  }
}

TEST(SolverChoice, follows_the_costs_of_the_machine) {
  SolverCosts slow = kCudaCosts;
  slow.subspace.flop_s *= 1000;
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMostGram, slow).solver, gram);
  slow.gram.cube_s *= 1000;
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMostGram, slow).solver, subspace);
}

TEST(SolverChoice, counts_what_a_batch_costs_by_its_planes) {
  const SolverCosts costs = {.subspace = {.batch_s = 1e-3, .sample_s = 1e-11},
                             .gram = {.cube_s = 1e-11}};
  const auto choose = [&](int planes) {
    return choose_solver(automatic, {{256, 256}, 20, 48, planes}, kMostGram, costs).solver;
  };
  EXPECT_EQ(choose(1), gram);
  EXPECT_EQ(choose(512), subspace);
}

TEST(SolverChoice, says_why_with_estimates) {
  const SolverCosts costs = {.subspace = {.cube_s = 1.9e-6 / (48 * 48 * 48)},
                             .gram = {.cube_s = 60e-6 / (256 * 256 * 256)}};
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMostGram, costs).reason,
            "48 of 256 columns: about 1.9 us a plane, gram 60 us");
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 160), kMostGram, costs).reason,
            "about 60 us a plane, subspace with 192 of 256 columns 122 us");
}

TEST(SolverChoice, expects_planes_to_be_left_to_gram_where_most_vectors_are_wanted) {
  const SolverCosts costs = {.subspace = {.sample_s = 1e-9}, .gram = {.sample_s = 1.2e-9}};
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMostGram, costs).solver, subspace);
  const SolverChoice most = choose_solver(automatic, batch(256, 256, 150), kMostGram, costs);
  EXPECT_EQ(most.solver, gram);
  EXPECT_THAT(most.reason, HasSubstr("some perhaps left to gram"));
}

TEST(SolverChoice, says_what_keeps_it_from_the_subspace_solver) {
  const auto reason = [](int side, int rank) {
    return choose_solver(automatic, batch(side, side, rank), kMostGram, kCudaCosts).reason;
  };
  EXPECT_EQ(reason(32, 10), "rank 10 would take subspace 48 columns, and there are 32");
}

TEST(SolverChoice, says_where_the_subspace_solver_is_in_float64) {
  const auto choose = [](int rank) {
    return choose_solver(automatic, batch(1024, 1024, rank), kMostGram, kCudaCosts);
  };
  EXPECT_THAT(choose(200).reason, HasSubstr("256 of 1024 columns in float64: about"));
  EXPECT_THAT(choose(100).reason, HasSubstr("128 of 1024 columns: about"));
}

TEST(SolverChoice, leaves_what_the_batched_eigensolver_cannot_index_to_gesvd) {
  EXPECT_EQ(cuda(50000, 26754, 20000), gram);
  EXPECT_EQ(cuda(50000, 26755, 20), gesvd);
  const SolverChoice asked =
      choose_solver(subspace, batch(50000, 26755, 20), kMostGram, kCudaCosts);
  EXPECT_EQ(asked.solver, gesvd) << "some of its planes would be left to gram";
  EXPECT_EQ(asked.reason, "gram takes 26754 columns at most");
}

TEST(SolverChoice, never_asks_the_subspace_solver_for_more_columns_than_there_are) {
  for (const SolverKind requested : {automatic, subspace}) {
    for (int cols = 1; cols <= 1024; cols += 31) {
      for (int rank = 1; rank <= cols; ++rank) {
        const SolverChoice choice =
            choose_solver(requested, batch(cols, cols, rank), kMostGram, kCudaCosts);
        EXPECT_TRUE(choice.solver != subspace || choice.batch.columns < cols);
      }
    }
  }
}

TEST(SolverChoice, follows_a_request_that_can_be_followed) {
  for (const SolverKind requested : {gram, gesvd, gesvdj}) {
    const SolverChoice choice =
        choose_solver(requested, batch(256, 256, 20), kMostGram, kCudaCosts);
    EXPECT_EQ(choice.solver, requested);
    EXPECT_EQ(choice.reason, "asked for");
  }
  SolverCosts dear = kCudaCosts;
  dear.subspace.batch_s = 1000;
  EXPECT_EQ(choose_solver(subspace, batch(64, 64, 10), kMostGram, dear).solver, subspace);
  EXPECT_EQ(choose_solver(subspace, batch(64, 64, 60), kMostGram, kCudaCosts).solver, gram);
}

TEST(SolverChooser, knows_what_it_chose_for_every_shape) {
  SolverChooser chooser(automatic, kCudaCosts);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMostGram), subspace);
  EXPECT_EQ(chooser.choose(batch(32, 32, 20), kMostGram), gram);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMostGram), subspace);
  const auto choices = chooser.choices();
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].batch.shape, (PaddedShape{256, 256}));
  EXPECT_THAT(choices[0].reason, HasSubstr("48 of 256 columns"));
  EXPECT_EQ(choices[1].batch.shape, (PaddedShape{32, 32}));
  EXPECT_EQ(choices[1].solver, gram);
}

TEST(SolverChooser, tells_of_the_hundred_largest_shapes) {
  SolverChooser chooser(automatic, kCudaCosts);
  for (int side = 1; side < 300; ++side) chooser.choose(batch(side, side, 1), kMostGram);
  ASSERT_EQ(chooser.choices().size(), 100U);
  EXPECT_EQ(chooser.choices().back().batch.shape.rows, 200);
}

TEST(SolverChooser, chooses_for_every_rank_of_a_shape) {
  SolverChooser chooser(automatic, kCudaCosts);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMostGram), subspace);
  EXPECT_EQ(chooser.choose(batch(256, 256, 250), kMostGram), gram);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMostGram), subspace);
  const auto choices = chooser.choices();
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].batch.rank, 250);
  EXPECT_EQ(choices[1].batch.rank, 20);
}

TEST(SolverChooser, knows_the_largest_shapes_of_more_than_it_remembers) {
  SolverChooser chooser(automatic, kCudaCosts);
  constexpr int kSides = int(kMostKnown) + 500;
  const SolverKind first = chooser.choose(batch(500, 500, 20), kMostGram);
  for (int side = kSides; side > 0; --side) chooser.choose(batch(side, side, 1), kMostGram);
  const auto choices = chooser.choices();
  ASSERT_EQ(choices.size(), 100U);
  EXPECT_EQ(choices.front().batch.shape.rows, kSides);
  EXPECT_EQ(choices.back().batch.shape.rows, kSides - 99);
  EXPECT_EQ(chooser.choose(batch(500, 500, 20), kMostGram), first);
}

TEST(SolverChoice, oversamples_by_a_quarter_but_where_fewer_keep_it_in_float16) {
  for (const int most_narrow : {112, 192}) {
    for (int rank = 1; rank < 400; ++rank) {
      const int columns = subspace_columns(rank, most_narrow);
      EXPECT_GE(columns, rank + 28);
      EXPECT_TRUE(4 * columns > 5 * rank - 4 || columns == most_narrow) << rank;
    }
    EXPECT_EQ(subspace_columns(most_narrow - 28, most_narrow), most_narrow);
    EXPECT_GT(subspace_columns(most_narrow - 27, most_narrow), most_narrow);
  }
}

TEST(SolverKind, is_read_back_from_its_name) {
  for (const SolverKind kind : {automatic, gram, subspace, gesvd, gesvdj}) {
    EXPECT_EQ(parse_solver(to_string(kind)), kind);
  }
  EXPECT_THROW(parse_solver("svd"), std::invalid_argument);
}

}  // namespace
}  // namespace eckart
