#include "simulation/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace eckart::simulation {
namespace {

constexpr int kSamples = 200'000;

/// Mean and variance of kSamples numbers.
template <class Draw>
std::pair<double, double> moments(const Draw& draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double number = draw();
    sum += number;
    squares += number * number;
  }
  const double mean = sum / kSamples;
  return {mean, squares / kSamples - mean * mean};
}

TEST(Random, is_exponential_with_a_mean) {
  Random random(1);
  const auto [mean, variance] = moments([&] { return random.exponential(3); });
  EXPECT_NEAR(mean, 3, 3 * 3 / std::sqrt(kSamples));
  EXPECT_NEAR(variance, 9, 0.3);
}

TEST(Random, is_lognormal_with_mean_one) {
  Random random(1);
  const auto [mean, variance] = moments([&] { return random.lognormal(0.5); });
  EXPECT_NEAR(mean, 1, 3 * 0.5 / std::sqrt(kSamples));
  EXPECT_NEAR(variance, 0.25, 0.01);
  EXPECT_EQ(random.lognormal(0), 1);
}

}  // namespace
}  // namespace eckart::simulation
