#include "compute/solver_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <utility>

#include "compute/cost_model.hpp"
#include "compute/cpu/built_in_costs.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/cuda/plan/built_in_costs.hpp"
#include "compute/cuda/plan/subspace_columns.hpp"
#include "compute/evict_if_full.hpp"

namespace eckart::compute {
namespace {

using enum SolverKind;
using cuda::kBuiltInCudaCosts;
using cuda::kMaxGramColumns;
using ::testing::HasSubstr;
using ::testing::Not;

/// CUDA on a device with large shared memory.
constexpr int kMaxFloat16Columns = 192;
int cuda_columns(int rank) { return cuda::cuda_subspace_columns(rank, kMaxFloat16Columns); }
BatchWorkload batch(int rows, int cols, int rank) {
  const int columns = cuda_columns(rank);
  return {{rows, cols}, rank, columns, 64, columns > kMaxFloat16Columns};
}

SolverKind cuda(int rows, int cols, int rank) {
  return choose_solver(automatic, batch(rows, cols, rank), kMaxGramColumns, kBuiltInCudaCosts)
      .solver;
}

int cpu_columns(int rank) { return (rank + std::max(20, rank / 4) + 15) / 16 * 16; }

/// The workload of the CPU's lanes: one plane.
SolverKind cpu(int rows, int cols, int rank) {
  return choose_solver(automatic, {{rows, cols}, rank, cpu_columns(rank), 1}, INT_MAX,
                       compute::cpu::kBuiltInCpuCosts)
      .solver;
}

TEST(SolverChoice, chooses_subspace_at_low_rank) {
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

TEST(SolverChoice, chooses_gram_at_high_rank_or_for_a_small_matrix) {
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

TEST(SolverChoice, switches_to_gram_once_as_the_rank_grows) {
  for (const auto& [choose, columns] : {std::pair{&cuda, &cuda_columns}, {&cpu, &cpu_columns}}) {
    for (const int side : {128, 256, 512}) {
      int changes = 0;
      SolverKind last = subspace;
      for (int rank = side / 8; rank <= side; ++rank) {
        if (columns(rank) == columns(rank + 1))
          continue;  // use the largest rank for each number of columns
        const SolverKind next = choose(side, side, rank);
        changes += next != last;
        last = next;
      }
      EXPECT_EQ(changes, 1) << side;
      EXPECT_EQ(last, gram) << side;
    }
  }
}

TEST(SolverChoice, follows_the_costs_of_the_machine) {
  SolverCosts slow = kBuiltInCudaCosts;
  slow.subspace.flop_s *= 1000;
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMaxGramColumns, slow).solver, gram);
  slow.gram.cube_s *= 1000;
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMaxGramColumns, slow).solver, subspace);
}

TEST(SolverChoice, divides_the_batch_cost_by_its_planes) {
  const SolverCosts costs = {.subspace = {.batch_s = 1e-3, .sample_s = 1e-11},
                             .gram = {.cube_s = 1e-11}};
  const auto choose = [&](int planes) {
    return choose_solver(automatic, {{256, 256}, 20, 48, planes}, kMaxGramColumns, costs).solver;
  };
  EXPECT_EQ(choose(1), gram);
  EXPECT_EQ(choose(512), subspace);
}

TEST(SolverChoice, explains_the_choice_with_estimates) {
  const SolverCosts costs = {.subspace = {.cube_s = 1.9e-6 / (48 * 48 * 48)},
                             .gram = {.cube_s = 60e-6 / (256 * 256 * 256)}};
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMaxGramColumns, costs).explanation,
            "48 of 256 columns: about 1.90 us per plane, gram 60.0 us");
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 160), kMaxGramColumns, costs).explanation,
            "about 60.0 us per plane, subspace with 192 of 256 columns 122 us");
}

TEST(SolverChoice, expects_recomputation_by_gram_at_high_rank) {
  const SolverCosts costs = {.subspace = {.sample_s = 1e-9}, .gram = {.sample_s = 1.2e-9}};
  EXPECT_EQ(choose_solver(automatic, batch(256, 256, 20), kMaxGramColumns, costs).solver, subspace);
  const SolverChoice choice =
      choose_solver(automatic, batch(256, 256, 150), kMaxGramColumns, costs);
  EXPECT_EQ(choice.solver, gram);
  EXPECT_THAT(choice.explanation, HasSubstr("gram may recompute some planes"));
}

TEST(SolverChoice, explains_why_subspace_is_not_used) {
  const auto explanation = [](int side, int rank) {
    return choose_solver(automatic, batch(side, side, rank), kMaxGramColumns, kBuiltInCudaCosts)
        .explanation;
  };
  EXPECT_EQ(explanation(32, 10),
            "rank 10 needs a subspace of 48 columns, more than three quarters of 32");
}

TEST(SolverChoice, explains_that_subspace_uses_float64) {
  const auto choose = [](int rank) {
    return choose_solver(automatic, batch(1024, 1024, rank), kMaxGramColumns, kBuiltInCudaCosts);
  };
  EXPECT_THAT(choose(200).explanation, HasSubstr("256 of 1024 columns in float64: about"));
  EXPECT_THAT(choose(100).explanation, HasSubstr("128 of 1024 columns: about"));
}

TEST(SolverChoice, uses_gesvd_above_the_gram_column_limit) {
  EXPECT_EQ(cuda(50000, 26754, 20000), gram);
  EXPECT_EQ(cuda(50000, 26755, 20), gesvd);
  const SolverChoice choice =
      choose_solver(subspace, batch(50000, 26755, 20), kMaxGramColumns, kBuiltInCudaCosts);
  EXPECT_EQ(choice.solver, gesvd) << "gram must be able to recompute its planes";
  EXPECT_EQ(choice.explanation, "gram supports at most 26754 columns");
}

TEST(SolverChoice, uses_no_more_subspace_columns_than_matrix_columns) {
  for (const SolverKind requested : {automatic, subspace}) {
    for (int cols = 1; cols <= 1024; cols += 31) {
      for (int rank = 1; rank <= cols; ++rank) {
        const SolverChoice choice =
            choose_solver(requested, batch(cols, cols, rank), kMaxGramColumns, kBuiltInCudaCosts);
        EXPECT_TRUE(choice.solver != subspace || choice.batch.columns < cols);
      }
    }
  }
}

TEST(SolverChoice, follows_a_supported_request) {
  for (const SolverKind requested : {gram, gesvd, gesvdj}) {
    const SolverChoice choice =
        choose_solver(requested, batch(256, 256, 20), kMaxGramColumns, kBuiltInCudaCosts);
    EXPECT_EQ(choice.solver, requested);
    EXPECT_EQ(choice.explanation, "requested");
  }
  SolverCosts expensive = kBuiltInCudaCosts;
  expensive.subspace.batch_s = 1000;
  EXPECT_EQ(choose_solver(subspace, batch(64, 64, 10), kMaxGramColumns, expensive).solver,
            subspace);
  EXPECT_EQ(choose_solver(subspace, batch(64, 64, 60), kMaxGramColumns, kBuiltInCudaCosts).solver,
            gram);
}

TEST(SolverChooser, remembers_the_choice_for_every_shape) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMaxGramColumns), subspace);
  EXPECT_EQ(chooser.choose(batch(32, 32, 20), kMaxGramColumns), gram);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMaxGramColumns), subspace);
  const auto solver_choices = chooser.solver_choices();
  ASSERT_EQ(solver_choices.size(), 2U);
  EXPECT_EQ(solver_choices[0].batch.shape, (PaddedShape{256, 256}));
  EXPECT_THAT(solver_choices[0].explanation, HasSubstr("48 of 256 columns"));
  EXPECT_EQ(solver_choices[1].batch.shape, (PaddedShape{32, 32}));
  EXPECT_EQ(solver_choices[1].solver, gram);
}

TEST(SolverChooser, reports_the_hundred_largest_shapes) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  for (int side = 1; side < 300; ++side) chooser.choose(batch(side, side, 1), kMaxGramColumns);
  ASSERT_EQ(chooser.solver_choices().size(), 100U);
  EXPECT_EQ(chooser.solver_choices().back().batch.shape.rows, 200);
}

TEST(SolverChooser, chooses_for_every_rank_of_a_shape) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMaxGramColumns), subspace);
  EXPECT_EQ(chooser.choose(batch(256, 256, 250), kMaxGramColumns), gram);
  EXPECT_EQ(chooser.choose(batch(256, 256, 20), kMaxGramColumns), subspace);
  const auto solver_choices = chooser.solver_choices();
  ASSERT_EQ(solver_choices.size(), 2U);
  EXPECT_EQ(solver_choices[0].batch.rank, 250);
  EXPECT_EQ(solver_choices[1].batch.rank, 20);
}

/// Images with float samples need it, and others may have the same shape.
TEST(SolverChooser, chooses_for_float64_apart) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  BatchWorkload float64 = batch(256, 256, 20);
  float64.is_float64 = true;
  chooser.choose(batch(256, 256, 20), kMaxGramColumns);
  chooser.choose(float64, kMaxGramColumns);
  const auto solver_choices = chooser.solver_choices();
  ASSERT_EQ(solver_choices.size(), 2U);
  EXPECT_THAT(solver_choices[0].explanation, HasSubstr("in float64"));
  EXPECT_THAT(solver_choices[1].explanation, Not(HasSubstr("in float64")));
}

TEST(SolverChooser, reports_the_largest_shapes_after_eviction) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  constexpr int kSides = int(kMaxCacheEntries) + 500;
  const SolverKind first = chooser.choose(batch(500, 500, 20), kMaxGramColumns);
  for (int side = kSides; side > 0; --side) chooser.choose(batch(side, side, 1), kMaxGramColumns);
  const auto solver_choices = chooser.solver_choices();
  ASSERT_EQ(solver_choices.size(), 100U);
  EXPECT_EQ(solver_choices.front().batch.shape.rows, kSides);
  EXPECT_EQ(solver_choices.back().batch.shape.rows, kSides - 99);
  EXPECT_EQ(chooser.choose(batch(500, 500, 20), kMaxGramColumns), first);
}

TEST(SolverChoice, uses_up_to_three_quarters_of_the_columns) {
  const auto choose = [](int columns) {
    return choose_solver(subspace, {{64, 64}, 20, columns, 1}, INT_MAX, kBuiltInCudaCosts);
  };
  EXPECT_EQ(choose(48).solver, subspace);
  EXPECT_EQ(choose(48).explanation, "requested");
  EXPECT_EQ(choose(49).solver, gram);
  EXPECT_EQ(choose(49).explanation,
            "rank 20 needs a subspace of 49 columns, more than three quarters of 64");
}

TEST(SolverChooser, records_the_solver_that_was_used) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  EXPECT_EQ(chooser.estimate(batch(256, 256, 20), kMaxGramColumns), subspace);
  EXPECT_TRUE(chooser.solver_choices().empty()) << "an estimate is not a choice";
  chooser.record(batch(256, 256, 20), subspace);
  chooser.record(batch(128, 128, 20), gram);
  chooser.record(batch(128, 128, 20), subspace);  // the first one counts
  const auto choices = chooser.solver_choices();
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].batch.shape, (PaddedShape{256, 256}));
  EXPECT_EQ(choices[0].solver, subspace);
  EXPECT_THAT(choices[0].explanation, HasSubstr("48 of 256 columns: about"));
  EXPECT_EQ(choices[1].solver, gram);
  EXPECT_EQ(choices[1].explanation, "its singular values gave the rank");
}

TEST(SolverChooser, keeps_the_largest_records) {
  SolverChooser chooser(automatic, kBuiltInCudaCosts);
  constexpr int kSides = int(kMaxCacheEntries) + 10;
  for (int side = kSides; side > 0; --side) chooser.record(batch(side, side, 1), gesvd);
  EXPECT_EQ(chooser.solver_choices().front().batch.shape.rows, kSides);
  EXPECT_EQ(chooser.solver_choices().size(), 100U);
}

}  // namespace
}  // namespace eckart::compute
