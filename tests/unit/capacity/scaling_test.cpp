#include "capacity/scaling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "synth/random.hpp"

namespace eckart::capacity {
namespace {

/// Returns core-seconds per image for the serial fraction `serial`, with relative noise.
std::vector<ScalingPoint> points(std::vector<double> cores, double serial, double noise,
                                 synth::Random& random) {
  std::vector<ScalingPoint> made;
  for (const double n : cores) {
    made.push_back({n, 0.01 * (1 + serial * (n - 1)) * (1 + noise * random.normal())});
  }
  return made;
}

TEST(AmdahlsLaw, is_recovered_from_exact_points) {
  synth::Random random(1);
  for (const double serial : {0.0, 0.01, 0.2}) {
    const auto line = fit_line(points({1, 2, 4, 8}, serial, 0, random));
    ASSERT_TRUE(line);
    EXPECT_NEAR(line->single_core, 0.01, 1e-12);
    EXPECT_NEAR(line->ratio.value, serial, 1e-9);
    EXPECT_NEAR(line->ratio.high, serial, 1e-6) << "nothing is left to doubt";
  }
}

TEST(AmdahlsLaw, has_the_interval_of_the_errors_of_two_points) {
  synth::Random random(1);
  const auto line = fit_line(points({1, 2}, 0.1, 0, random));
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->ratio.value, 0.1, 1e-9);
  // y(2) / y(1) - 1, each with an error of 3 %
  EXPECT_NEAR(line->ratio.high - 0.1, 1.96 * 1.1 * std::sqrt(2.0) * kRunNoise, 1e-6);
}

TEST(AmdahlsLaw, is_unknown_from_one_number_of_cores) {
  synth::Random random(1);
  EXPECT_FALSE(fit_line(points({4, 4}, 0.1, 0.01, random)));
  EXPECT_FALSE(fit_line(points({4}, 0.1, 0.01, random)));
  const CoreCost cost(points({4, 4}, 0.1, 0, random));
  EXPECT_FALSE(cost.is_known());
  EXPECT_NEAR(cost.core_s_per_image(16).value, cost.core_s_per_image(4).value, 1e-12);
}

/// Returns the share of simulations whose interval contains the true value.
double coverage(const std::vector<double>& cores, double serial, double noise) {
  constexpr int kSimulations = 2000;
  synth::Random random(20261122);
  int hits = 0;
  for (int i = 0; i < kSimulations; ++i) {
    const auto line = fit_line(points(cores, serial, noise, random));
    hits += line->ratio.low <= serial && serial <= line->ratio.high;
  }
  return double(hits) / kSimulations;
}

TEST(AmdahlsLaw, has_an_interval_with_95_percent_coverage) {
  EXPECT_NEAR(coverage({1, 2}, 0.03, kRunNoise), 0.95, 0.015);
  EXPECT_NEAR(coverage({1, 2, 4}, 0.03, 0.02), 0.95, 0.015);
  EXPECT_NEAR(coverage({2, 2, 4, 4}, 0.03, 0.02), 0.95, 0.015);
  EXPECT_NEAR(coverage({1, 2, 4, 8, 16}, 0.1, 0.03), 0.95, 0.015);
}

TEST(CoreCost, overrides_the_prior_with_precise_runs) {
  synth::Random random(1);
  for (const double serial : {0.003, 0.05, 0.2}) {
    const CoreCost cost(points({1, 4, 16, 32}, serial, 0, random));
    EXPECT_NEAR(cost.serial_fraction().value, serial, 0.1 * serial + 0.002);
    EXPECT_NEAR(cost.core_s_per_image(64).value, 0.01 * (1 + 63 * serial),
                0.001 * (1 + 63 * serial));
  }
  const CoreCost steep(points({2, 4}, 0.15, 0, random));
  EXPECT_NEAR(steep.core_s_per_image(16).value, 0.01 * (1 + 15 * 0.15), 0.006);
}

/// Returns the relative error of the rate at 16 cores, root mean square.
double error_at_16(const std::vector<double>& cores, double serial, bool only_fitted) {
  synth::Random random(7);
  double squares = 0;
  constexpr int kSimulations = 200;
  const double truth = 0.01 * (1 + 15 * serial);
  for (int i = 0; i < kSimulations; ++i) {
    const auto made = points(cores, serial, kRunNoise, random);
    const auto line = fit_line(made);
    const double fitted = line->single_core * (1 + 15 * line->ratio.value);
    const double found = only_fitted ? fitted : CoreCost(made).core_s_per_image(16).value;
    squares += std::pow(truth / found - 1, 2) / kSimulations;
  }
  return std::sqrt(squares);
}

TEST(CoreCost, is_predicted_from_few_cores_within_15_percent_unlike_a_line) {
  for (const double serial : {0.007, 0.015, 0.025}) {
    EXPECT_LT(error_at_16({1, 2}, serial, false), 0.15) << serial;
    EXPECT_LT(error_at_16({2, 4}, serial, false), 0.15) << serial;
    EXPECT_GT(error_at_16({1, 2}, serial, true), 0.3) << serial;
  }
}

TEST(CoreCost, has_an_interval_with_coverage_above_90_percent) {
  synth::Random random(3);
  int hits = 0;
  for (int i = 0; i < 200; ++i) {
    const double serial = 0.015 * std::exp(0.5 * random.normal());
    const Estimate at_16 = CoreCost(points({2, 4}, serial, kRunNoise, random)).core_s_per_image(16);
    const double truth = 0.01 * (1 + 15 * serial);
    hits += at_16.low <= truth && truth <= at_16.high;
  }
  EXPECT_GT(hits, 180);
}

}  // namespace
}  // namespace eckart::capacity
