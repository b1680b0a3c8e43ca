#include "analysis/squared_errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart::analysis {
namespace {

using ::testing::ElementsAre;

TEST(SquaredErrors, adds_up_the_squares_that_are_left_out) {
  EXPECT_THAT(squared_errors(std::vector<double>{3, 2, 1}), ElementsAre(14, 5, 1, 0));
  EXPECT_THAT(squared_errors({}), ElementsAre(0));
}

TEST(SquaredErrors, keeps_small_values_beside_large_ones) {
  const std::vector<double> errors = squared_errors(std::vector<double>{1e9, 1e-3, 1e-4});
  EXPECT_DOUBLE_EQ(errors[1], 1e-6 + 1e-8);
  EXPECT_DOUBLE_EQ(errors[2], 1e-8);
}

}  // namespace
}  // namespace eckart::analysis
