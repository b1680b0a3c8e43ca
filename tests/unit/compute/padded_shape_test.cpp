#include <gtest/gtest.h>

#include "compute/backend.hpp"

namespace eckart::compute {
namespace {

PaddedShape padded(int rows, int cols, int multiple) {
  return padded_shape({rows, cols, 1, Depth::u8}, multiple);
}

TEST(PaddedShape, rounds_up_to_the_multiple) {
  EXPECT_EQ(padded(64, 32, 32), (PaddedShape{64, 32}));
  EXPECT_EQ(padded(65, 33, 32), (PaddedShape{96, 64}));
  EXPECT_EQ(padded(1, 1, 32), (PaddedShape{32, 32}));
  EXPECT_EQ(padded(65, 33, 1), (PaddedShape{65, 33}));
}

TEST(PaddedShape, puts_the_long_side_first) {
  EXPECT_EQ(padded(100, 300, 32), padded(300, 100, 32));
}

/// A batch is computed by one solver: one with all singular values only if they are wanted.
TEST(BatchKey, separates_tasks_that_want_the_spectrum) {
  Task plain;
  plain.input = Image({8, 8, 1, Depth::u8});
  plain.ranks = {{2}};
  const BatchKey key = batch_key(plain, 32);
  plain.wants_spectrum = true;
  EXPECT_NE(batch_key(plain, 32), key);
}

TEST(BatchKey, separates_tasks_that_want_factors) {
  Task task;
  task.input = Image({8, 8, 1, Depth::u8});
  task.ranks = {{2}, {8}};
  const BatchKey plain = batch_key(task, 32);
  task.min_factor_rank = 0;
  const BatchKey of_outputs = batch_key(task, 32);
  EXPECT_NE(of_outputs, plain);
  EXPECT_FALSE(of_outputs.has_factor_rank());
  EXPECT_EQ(of_outputs.ranks.size(), 2U);
  task.ranks.pop_back();
  task.min_factor_rank = 8;
  const BatchKey of_all = batch_key(task, 32);
  EXPECT_NE(of_all, of_outputs) << "of the same ranks, one more is that of an output";
  EXPECT_TRUE(of_all.has_factor_rank());
  EXPECT_EQ(of_all.ranks, of_outputs.ranks);
}

}  // namespace
}  // namespace eckart::compute
