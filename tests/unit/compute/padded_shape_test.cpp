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

}  // namespace
}  // namespace eckart::compute
