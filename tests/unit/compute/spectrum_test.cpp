#include "compute/spectrum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

namespace eckart::compute {
namespace {

constexpr std::array<double, 4> kSigmaSquared = {16, 9, 4, 1};
constexpr double kSquaredNorm = 30;

double energy_of_rank(int k) {
  return energy(std::span(kSigmaSquared).first(std::size_t(k)), kSquaredNorm);
}

TEST(Spectrum, has_the_share_of_leading_values_as_energy) {
  EXPECT_DOUBLE_EQ(energy_of_rank(1), 16.0 / 30);
  EXPECT_DOUBLE_EQ(energy_of_rank(2), 25.0 / 30);
}

TEST(Spectrum, has_energy_0_at_rank_0_and_1_at_full_rank) {
  EXPECT_EQ(energy_of_rank(0), 0);
  EXPECT_EQ(energy_of_rank(4), 1);
  EXPECT_EQ(optimal_error(kSigmaSquared, 0), kSquaredNorm);
  EXPECT_EQ(optimal_error(kSigmaSquared, 4), 0);
}

TEST(Spectrum, has_more_energy_and_less_error_at_a_higher_rank) {
  for (int k = 1; k <= 4; ++k) {
    EXPECT_GT(energy_of_rank(k), energy_of_rank(k - 1));
    EXPECT_LT(optimal_error(kSigmaSquared, k), optimal_error(kSigmaSquared, k - 1));
  }
}

TEST(Spectrum, has_energy_and_relative_error_that_add_up_to_1) {
  for (int k = 0; k <= 4; ++k) {
    EXPECT_NEAR(energy_of_rank(k) + optimal_error(kSigmaSquared, k) / kSquaredNorm, 1, 1e-15);
  }
}

TEST(Spectrum, has_energy_1_for_the_zero_matrix) {
  const std::array<double, 3> zeros = {};
  EXPECT_EQ(energy(zeros, 0), 1);
  EXPECT_EQ(energy({}, 0), 1);
  for (int k = 0; k <= 3; ++k) EXPECT_EQ(optimal_error(zeros, k), 0);
}

TEST(Spectrum, counts_negative_values_from_rounding_as_zero) {
  const std::array<double, 3> rounded = {4, 1e-20, -1e-15};
  EXPECT_EQ(energy(rounded, 4), 1);
  EXPECT_EQ(optimal_error(rounded, 2), 0);
  EXPECT_GE(optimal_error(rounded, 1), 0);
}

TEST(Spectrum, has_at_most_energy_1) {
  EXPECT_EQ(energy(kSigmaSquared, kSquaredNorm * (1 - 1e-15)), 1);
}

TEST(Spectrum, sums_small_terms_accurately) {
  std::vector<double> sigma_squared(1'000'001, 1e-16);
  sigma_squared.front() = 1;
  EXPECT_NEAR(optimal_error(sigma_squared, 0) - 1, 1e-10, 1e-14);
}

}  // namespace
}  // namespace eckart::compute
