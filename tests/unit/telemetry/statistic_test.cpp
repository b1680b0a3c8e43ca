#include "telemetry/statistic.hpp"

#include <gtest/gtest.h>

namespace eckart::telemetry {
namespace {

TEST(Statistic, has_the_mean_minimum_and_median_of_the_values) {
  Statistic statistic(0.01);
  for (const double value : {30.0, 21.5, 99.0, 28.25}) statistic.add(value);
  EXPECT_EQ(statistic.count(), 4);
  EXPECT_DOUBLE_EQ(statistic.mean(), 44.6875);
  EXPECT_EQ(statistic.min(), 21.5);
  EXPECT_DOUBLE_EQ(statistic.median(), (28.25 + 30) / 2);
  statistic.add(-3);
  EXPECT_EQ(statistic.min(), -3);
  EXPECT_DOUBLE_EQ(statistic.median(), 28.25);
}

TEST(Statistic, has_a_median_within_half_a_step) {
  Statistic statistic(0.01);
  for (int i = 0; i < 1001; ++i) statistic.add(20 + 0.00123 * i);
  EXPECT_NEAR(statistic.median(), 20 + 0.00123 * 500, 0.0050001);
}

TEST(Statistic, has_a_median_between_the_values) {
  Statistic statistic(0.01);
  statistic.add(30.004);
  EXPECT_EQ(statistic.median(), 30.004) << "of one value, itself";
}

/// Equal to the literals, so that JSON shows no more digits.
TEST(Statistic, has_no_rounding_errors_of_its_steps) {
  Statistic psnr(0.01), energy(0.00001), rank(1);
  for (const double value : {0.1, 35.381, 35.389, 99.0}) psnr.add(value);
  EXPECT_EQ(psnr.median(), 35.385);
  EXPECT_EQ(psnr.percentile(0.5), 35.38);
  for (const double value : {0.5, 0.99957, 1.0}) energy.add(value);
  EXPECT_EQ(energy.median(), 0.99957);
  for (const double value : {1.0, 1.0, 2.0, 5.0, 7.0}) rank.add(value);
  EXPECT_EQ(rank.mean(), 3.2);
}

TEST(Statistic, is_zero_without_values) {
  EXPECT_EQ(Statistic(1).median(), 0);
  EXPECT_EQ(Statistic(1).mean(), 0);
}

TEST(Statistic, has_percentiles_that_a_share_of_the_values_does_not_exceed) {
  Statistic statistic(1);
  EXPECT_EQ(statistic.percentile(0.5), 0);
  for (int value = 100; value >= 1; --value) statistic.add(value);
  EXPECT_EQ(statistic.percentile(0.01), 1);
  EXPECT_EQ(statistic.percentile(0.05), 5);
  EXPECT_EQ(statistic.percentile(0.99), 99);
  EXPECT_EQ(statistic.percentile(1), 100);
}

TEST(Statistic, has_the_smallest_value_that_a_share_does_not_exceed) {
  Statistic statistic{1};
  for (int value = 1; value <= 10; ++value) statistic.add(value);
  EXPECT_EQ(statistic.percentile(0.5), 5);
  EXPECT_EQ(statistic.percentile(0.51), 6);
  EXPECT_EQ(statistic.percentile(0), 1);
  EXPECT_EQ(statistic.percentile(1), 10);
}

}  // namespace
}  // namespace eckart::telemetry
