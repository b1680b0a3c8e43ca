#include "telemetry/duration_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace eckart::telemetry {
namespace {

using namespace std::chrono_literals;

TEST(DurationHistogram, has_nan_mean_and_quantile_without_samples) {
  const DurationHistogram none = DurationRecorder().read();
  EXPECT_EQ(none.count(), 0);
  EXPECT_TRUE(std::isnan(none.mean_s()));
  EXPECT_TRUE(std::isnan(none.quantile_s(0.5)));
  EXPECT_TRUE(std::isnan(DurationHistogram().quantile_s(0.5)));
}

TEST(DurationHistogram, has_quantiles_within_3_percent_from_microseconds_to_an_hour) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> seconds(std::log(0.05), 3.5);
  DurationRecorder counter;
  std::vector<double> lengths_s;
  for (int i = 0; i < 20001; ++i) {
    const double s = std::clamp(seconds(random), 2e-5, 3600.0);
    lengths_s.push_back(s);
    counter.add(std::chrono::nanoseconds(std::int64_t(s * 1e9)));
  }
  std::sort(lengths_s.begin(), lengths_s.end());
  const DurationHistogram durations = counter.read();
  for (const double q : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = lengths_s[std::size_t(q * 20000)];
    EXPECT_NEAR(durations.quantile_s(q), exact, 0.035 * exact) << q;
  }
  EXPECT_EQ(durations.count(), 20001);
}

TEST(DurationHistogram, counts_several_at_a_time_and_sums_exactly) {
  DurationRecorder counter;
  counter.add(2ms, 3);
  counter.add(10ms);
  EXPECT_EQ(counter.read().count(), 4);
  EXPECT_NEAR(counter.read().sum_s(), 0.016, 1e-12);
  EXPECT_NEAR(counter.read().mean_s(), 0.004, 1e-12);
}

TEST(DurationHistogram, clamps_extreme_durations) {
  DurationRecorder counter;
  counter.add(-5s);
  counter.add(0ns);
  EXPECT_LT(counter.read().quantile_s(1), 2e-6);
  counter.add(100h);
  EXPECT_GT(counter.read().quantile_s(1), 3600);
}

TEST(DurationHistogram, has_only_later_samples_in_since) {
  DurationRecorder counter;
  counter.add(1s, 100);
  const DurationHistogram earlier = counter.read();
  counter.add(1ms, 10);
  const DurationHistogram later = counter.read().since(earlier);
  EXPECT_EQ(later.count(), 10);
  EXPECT_NEAR(later.quantile_s(0.99), 1e-3, 5e-5);
  EXPECT_NEAR(later.sum_s(), 0.01, 1e-9);
  EXPECT_EQ(counter.read().since(DurationHistogram()).count(), 110);
}

TEST(DurationHistogram, counts_samples_up_to_a_bound) {
  DurationRecorder counter;
  counter.add(1ms, 5);
  counter.add(100ms, 7);
  EXPECT_EQ(counter.read().count_up_to(0.0005), 0);
  EXPECT_EQ(counter.read().count_up_to(0.01), 5);
  EXPECT_EQ(counter.read().count_up_to(1), 12);
}

TEST(DurationHistogram, does_not_count_samples_above_a_bound) {
  for (const double bound_s : {0.00025, 0.001, 0.0025, 0.05, 0.1, 1.0}) {
    DurationRecorder counter;
    counter.add(std::chrono::nanoseconds(std::int64_t(bound_s * 1.001e9)));
    EXPECT_EQ(counter.read().count_up_to(bound_s), 0) << bound_s;
  }
}

TEST(DurationHistogram, counts_samples_of_many_threads) {
  DurationRecorder counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) counter.add(1ms);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.read().count(), 4000);
}

}  // namespace
}  // namespace eckart::telemetry
