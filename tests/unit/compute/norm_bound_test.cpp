#include "compute/norm_bound.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace eckart::compute {
namespace {

/// max_j ||T_d(2 S^2 / cutoff - 1) S w_j||^2 for S = diag(sigma), with vectors from this seed.
double largest_squared_probe(const std::vector<double>& sigma, int degree, double cutoff,
                             unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  double largest = 0;
  for (int j = 0; j < kProbeVectors; ++j) {
    double sum = 0;
    for (const double value : sigma) {
      const double x = 2 * value * value / cutoff - 1;
      double before = 1, now = degree == 0 ? 1 : x;
      for (int i = 1; i < degree; ++i) before = std::exchange(now, 2 * x * now - before);
      sum += std::pow(now * value * normal(random), 2);
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

std::vector<double> decaying(double factor) {
  std::vector<double> sigma;
  for (int i = 0; i < 100; ++i) sigma.push_back(10 * std::pow(factor, i));
  return sigma;
}

TEST(NormBound, is_never_below_the_norm) {
  for (const double factor : {0.3, 0.9, 0.99, 1.0}) {
    const std::vector<double> sigma = decaying(factor);
    for (const double cutoff : {1.0, 50.0, 100.0, 300.0}) {
      for (int degree = 0; degree <= kMaxProbeDegree; ++degree) {
        for (unsigned seed = 0; seed < 20; ++seed)
          EXPECT_GE(squared_norm_bound(largest_squared_probe(sigma, degree, cutoff, seed), degree,
                                       cutoff),
                    100)
              << factor << ' ' << cutoff << ' ' << degree << ' ' << seed;
      }
    }
  }
}

/// Most of the energy is in 100 nearly equal values.
TEST(NormBound, approaches_the_norm_as_the_degree_rises) {
  const std::vector<double> sigma = decaying(0.99);
  const auto bound = [&](int degree) {
    return squared_norm_bound(largest_squared_probe(sigma, degree, 90, 1), degree, 90);
  };
  EXPECT_GT(bound(0), 20 * 100);
  EXPECT_LT(bound(2), 3 * 100);
  EXPECT_LT(bound(4), 1.5 * 100);
  EXPECT_LT(bound(8), 1.2 * 100);
}

TEST(NormBound, is_finite_for_any_probe) {
  for (const double probe : {0.0, 1e-300, 1e300}) {
    for (int degree = 0; degree <= kMaxProbeDegree; ++degree)
      EXPECT_TRUE(std::isfinite(squared_norm_bound(probe, degree, 1e-3))) << probe << degree;
  }
}

TEST(NormBound, has_the_factor_of_its_failure_probability) {
  constexpr double kFactor = 7 * 7 * 2 / 3.14159265358979;
  EXPECT_NEAR(squared_norm_bound(3, 0, 1e9), kFactor * 3, 1e-4);
  EXPECT_EQ(squared_norm_bound(0, 3, 25), 25) << "at least the cutoff";
  // x T_2(2 x - 1)^2 is 2 x 17^2 at x = 2.
  EXPECT_NEAR(squared_norm_bound(2 * 17 * 17 * 5 / kFactor, 2, 5), 10, 1e-4);
}

}  // namespace
}  // namespace eckart::compute
