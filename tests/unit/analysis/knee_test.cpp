#include "analysis/knee.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace eckart::test {
namespace {

TEST(Knee, is_the_corner_of_a_curve_of_two_lines) {
  std::vector<double> energy;
  for (int k = 1; k <= 10; ++k) energy.push_back(0.09 * k);
  for (int k = 11; k <= 100; ++k) energy.push_back(0.9 + 0.001 * (k - 10));
  EXPECT_EQ(analysis::knee_rank(energy), 10);
}

TEST(Knee, is_where_a_smooth_curve_has_the_slope_of_the_line_between_its_ends) {
  constexpr int kRanks = 200;
  constexpr double kDecay = 0.1;
  std::vector<double> energy;
  for (int k = 1; k <= kRanks; ++k) energy.push_back(1 - std::exp(-kDecay * k));
  const double mean_slope = (energy.back() - energy.front()) / (kRanks - 1);
  EXPECT_NEAR(analysis::knee_rank(energy), std::log(kDecay / mean_slope) / kDecay, 1);
}

TEST(Knee, is_the_first_rank_of_a_flat_or_a_straight_curve) {
  EXPECT_EQ(analysis::knee_rank(std::vector<double>{1}), 1);
  EXPECT_EQ(analysis::knee_rank(std::vector<double>{1, 1, 1}), 1);
  EXPECT_EQ(analysis::knee_rank(std::vector<double>{0.25, 0.5, 0.75, 1}), 1);
}

}  // namespace
}  // namespace eckart::test
