#include "bench/report/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "synth/random.hpp"

namespace eckart::bench {
namespace {

/// count ... 1
std::vector<double> descending(int count) {
  std::vector<double> samples(std::size_t(count), 0.0);
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  return samples;
}

TEST(Estimate, has_the_median_of_unsorted_samples) {
  EXPECT_EQ(estimate(std::vector<double>{5, 1, 3}).median, 3);
  EXPECT_EQ(estimate(std::vector<double>{4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(estimate(std::vector<double>{7}).median, 7);
  EXPECT_EQ(estimate(std::vector<double>{}).samples, 0);
}

/// The ranks of the ends are those of tables of the sign test.
TEST(Estimate, has_the_interval_of_the_sign_test) {
  struct Case {
    int samples;
    double low, high;
  };
  for (const Case& c :
       {Case{6, 1, 6}, {9, 2, 8}, {10, 2, 9}, {20, 6, 15}, {100, 40, 61}, {1000, 469, 532}}) {
    const Estimate e = estimate(descending(c.samples));
    EXPECT_EQ(e.low, c.low) << c.samples;
    EXPECT_EQ(e.high, c.high) << c.samples;
    EXPECT_EQ(e.samples, c.samples);
  }
}

TEST(Estimate, contains_the_median_in_nineteen_of_twenty_cases) {
  synth::Random random(3);
  constexpr int kCases = 2000, kSamples = 15;
  int contained = 0;
  for (int i = 0; i < kCases; ++i) {
    std::vector<double> samples;
    for (int s = 0; s < kSamples; ++s) {
      const double u = random.uniform();
      samples.push_back(u * u * u * u);  // far from symmetric; its median is 1/16
    }
    const Estimate e = estimate(samples);
    if (e.low <= 1.0 / 16 && 1.0 / 16 <= e.high) ++contained;
  }
  EXPECT_GE(contained, kCases * 95 / 100);
  EXPECT_LE(contained, kCases * 98 / 100);
}

TEST(Estimate, ignores_an_outlier) {
  std::vector<double> samples(20, 1.0);
  samples.back() = 1000;
  const Estimate e = estimate(samples);
  EXPECT_EQ(e.median, 1);
  EXPECT_EQ(e.relative_error(), 0);
}

/// Passes of which each is shifted by an offset of its own, with a deviation of 1 about 0, which is
/// larger than the noise. The median of all possible ones is 10.05.
Passes shifted_passes(synth::Random& random, int count) {
  Passes passes;
  for (int pass = 0; pass < count; ++pass) {
    const double offset = random.normal();
    std::vector<double>& samples = passes.emplace_back();
    for (int i = 0; i < 12; ++i) samples.push_back(10 + offset + 0.1 * random.uniform());
  }
  return passes;
}

TEST(Estimate, contains_the_median_of_all_passes_in_nineteen_of_twenty_cases) {
  synth::Random random(5);
  constexpr int kCases = 2000;
  for (const int count : {3, 5, 8}) {
    int contained = 0;
    for (int i = 0; i < kCases; ++i) {
      const Estimate all = estimate(shifted_passes(random, count));
      EXPECT_EQ(all.samples, 12 * count);
      if (all.low <= 10.05 && 10.05 <= all.high) ++contained;
    }
    EXPECT_GE(contained, kCases * 93 / 100) << count << " passes";
    EXPECT_LE(contained, kCases * 99 / 100) << count << " passes";
  }
}

TEST(Estimate, overlaps_that_of_another_run_though_passes_differ_more_than_their_samples) {
  synth::Random random(7);
  constexpr int kRuns = 500;
  int agreeing = 0, agreeing_with_one_pass = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto agree = [&](int passes) {
      return estimate(shifted_passes(random, passes))
          .overlaps(estimate(shifted_passes(random, passes)));
    };
    agreeing += agree(5) ? 1 : 0;
    agreeing_with_one_pass += agree(1) ? 1 : 0;
  }
  EXPECT_GE(agreeing, kRuns * 98 / 100);
  EXPECT_LT(agreeing_with_one_pass, kRuns / 4);
}

TEST(Estimate, has_the_interval_of_student_for_the_medians_of_passes) {
  // Logarithms to base 2: -1, 0, 1, with a mean of 0 and a standard error of 1 / √3.
  const Estimate e = estimate(Passes{{0.5}, {1}, {2}});
  EXPECT_NEAR(std::log2(e.high), 4.303 / std::sqrt(3), 1e-3);
  EXPECT_NEAR(std::log2(e.low), -4.303 / std::sqrt(3), 1e-3);
}

TEST(Estimate, contains_both_medians_of_two_passes) {
  const Estimate e = estimate(Passes{{1, 1, 1, 1, 1, 1}, {2}});
  EXPECT_NEAR(e.low, 1, 1e-12);
  EXPECT_NEAR(e.high, 2, 1e-12);
}

TEST(Estimate, has_no_interval_of_student_for_zeros) {
  const Estimate e = estimate(Passes{{0}, {0}, {4}});
  EXPECT_EQ(e.low, 0);
  EXPECT_EQ(e.high, 4);
}

TEST(Estimate, is_that_of_all_samples_if_a_pass_has_none) {
  EXPECT_EQ(estimate(Passes{{}, {1, 3}}).median, 2);
  EXPECT_EQ(estimate(Passes{}).samples, 0);
}

TEST(Estimate, has_the_larger_distance_as_relative_error) {
  EXPECT_DOUBLE_EQ((Estimate{.median = 10, .low = 9, .high = 13}).relative_error(), 0.3);
}

TEST(Estimate, has_a_larger_interval_with_a_coarse_clock) {
  const Estimate e = Estimate{.median = 2, .low = 1, .high = 3, .samples = 9}.with_resolution(1.5);
  EXPECT_EQ(e.median, 2);
  EXPECT_EQ(e.low, 0) << "no time is negative";
  EXPECT_EQ(e.high, 4.5);
  EXPECT_EQ(e.samples, 9);
  EXPECT_EQ(Estimate{}.with_resolution(1).high, 0) << "nothing was measured";
}

TEST(Estimate, has_no_noise_from_a_coarse_clock) {
  const Estimate exact{.median = 2, .low = 1.9, .high = 2.2, .samples = 9};
  EXPECT_NEAR(exact.relative_noise(), 0.1, 1e-12);
  EXPECT_NEAR(exact.with_resolution(1).relative_noise(), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(exact.with_resolution(1).relative_error(), 0.6);
}

TEST(Estimate, overlaps_if_the_intervals_share_a_value) {
  const Estimate e{.median = 2, .low = 1, .high = 3};
  EXPECT_TRUE(e.overlaps({.median = 4, .low = 3, .high = 5}));
  EXPECT_FALSE(e.overlaps({.median = 4, .low = 3.1, .high = 5}));
}

TEST(Rate, swaps_the_ends_of_the_interval) {
  const Estimate r = rate(12, {.median = 4, .low = 3, .high = 6, .samples = 10});
  EXPECT_EQ(r.median, 3);
  EXPECT_EQ(r.low, 2);
  EXPECT_EQ(r.high, 4);
  EXPECT_EQ(r.samples, 10);
  EXPECT_EQ(rate(12, {}).median, 0);
  EXPECT_TRUE(std::isinf(rate(12, {.median = 4, .low = 0, .high = 6, .samples = 10}).high));
}

TEST(Ratio, compares_samples_of_the_same_round) {
  // The second round was disturbed: both took twice as long.
  const Estimate r = ratio({{4, 8, 4}}, {{2, 4, 2}});
  EXPECT_EQ(r.relative_error(), 0);
  EXPECT_EQ(r.median, 2);
}

TEST(Ratio, leaves_out_samples_without_a_counterpart) {
  EXPECT_EQ(ratio({{4, 8}, {6}}, {{2, 4, 5}}).samples, 2);
  EXPECT_EQ(ratio({{4, 6}}, {{2, 0}}).samples, 1) << "nor can it divide by 0";
}

}  // namespace
}  // namespace eckart::bench
