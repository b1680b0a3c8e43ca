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

}  // namespace
}  // namespace eckart::telemetry
