#include "compute/rank_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace eckart::compute {
namespace {

using RuleKind = RankRule::Kind;

constexpr int kFullRank = 256;

/// Squared singular values whose squared error at rank k is exp(-decay k^0.85), as in photographs.
std::vector<double> decaying_values(double decay) {
  std::vector<double> values;
  const auto error = [&](int k) {
    return k == kFullRank ? 0 : std::exp(-decay * std::pow(k, 0.85));
  };
  for (int k = 0; k < kFullRank; ++k) values.push_back(error(k) - error(k + 1));
  return values;
}

PlaneSpectrum leading(const std::vector<double>& values, int count) {
  PlaneSpectrum plane{.values = values.data(),
                      .is_svd_of_a = true,
                      .count = count,
                      .rows = kFullRank,
                      .cols = kFullRank};
  for (const double value : values) plane.squared_norm += value;
  return plane;
}

int true_rank(const RankRule& rule, const std::vector<double>& values) {
  const PlaneSpectrum all = leading(values, kFullRank);
  int rank = 0;
  choose_ranks(rule, &all, 1, &rank);
  return rank;
}

TEST(RankEstimate, is_the_chosen_rank_if_the_values_suffice) {
  const std::vector<double> values = decaying_values(0.4);
  for (const RankRule& rule : {RankRule{RuleKind::missing_share, 0.2},
                               {RuleKind::squared_error, 0.3},
                               {RuleKind::threshold, 0.02},
                               {RuleKind::rank, 11}}) {
    EXPECT_EQ(estimate_rank(rule, std::vector{leading(values, 48)}), true_rank(rule, values));
    EXPECT_LE(true_rank(rule, values), 48);
  }
}

TEST(RankEstimate, continues_the_squared_error) {
  for (const double decay : {0.08, 0.15}) {
    const std::vector<double> values = decaying_values(decay);
    for (const double limit : {0.02, 0.005, 0.002}) {
      for (const RuleKind kind : {RuleKind::missing_share, RuleKind::squared_error}) {
        const RankRule rule{kind, limit};
        const int rank = true_rank(rule, values);
        ASSERT_GT(rank, 24);
        EXPECT_NEAR(estimate_rank(rule, std::vector{leading(values, 24)}), rank, 0.02 * rank + 1);
      }
    }
  }
}

TEST(RankEstimate, continues_the_values_for_a_threshold) {
  const std::vector<double> values = decaying_values(0.3);
  const RankRule rule{RuleKind::threshold, values[99]};
  EXPECT_NEAR(estimate_rank(rule, std::vector{leading(values, 48)}), 99, 15);
}

TEST(RankEstimate, is_that_of_all_channels_together) {
  const std::vector<double> values = decaying_values(0.3);
  const std::vector planes(3, leading(values, 24));
  const RankRule rule{RuleKind::squared_error, 3 * 0.005, 3};
  EXPECT_EQ(estimate_rank(rule, planes),
            estimate_rank({RuleKind::squared_error, 0.005}, std::vector{planes[0]}));
}

TEST(RankEstimate, is_the_full_rank_if_nothing_better_is_known) {
  const std::vector<double> equal(kFullRank, 1), none(kFullRank, 0);
  const RankRule share{RuleKind::missing_share, 0.01};
  EXPECT_EQ(estimate_rank(share, std::vector{leading(equal, 8)}), kFullRank);
  PlaneSpectrum unknown = leading(none, 8);
  unknown.squared_norm = 1;
  unknown.is_svd_of_a = false;
  EXPECT_EQ(estimate_rank(share, std::vector{unknown}), kFullRank);
  unknown.squared_norm = NAN;
  EXPECT_EQ(estimate_rank(share, std::vector{unknown}), kFullRank);
  for (const RuleKind kind : {RuleKind::median_threshold, RuleKind::marchenko_pastur})
    EXPECT_EQ(estimate_rank({kind, 1}, std::vector{leading(decaying_values(0.3), 8)}), kFullRank);
}

TEST(RankEstimate, is_covered_with_a_margin) {
  EXPECT_EQ(rank_to_cover(8, 256), 12);
  EXPECT_EQ(rank_to_cover(80, 256), 90);
  EXPECT_EQ(rank_to_cover(250, 256), 256);
}

TEST(RankEstimate, is_at_most_the_full_rank_and_at_least_the_known_one) {
  const std::vector<double> values = decaying_values(0.3);
  const std::vector known{leading(values, 24)};
  EXPECT_EQ(estimate_rank({RuleKind::rank, 100}, known), 100);
  EXPECT_EQ(estimate_rank({RuleKind::rank, 1000}, known), kFullRank);
  EXPECT_EQ(estimate_rank({RuleKind::squared_error, 1e-300}, known), kFullRank);
  // The first plane needs more values for the threshold, and the second none.
  const std::vector<double> weak = decaying_values(2);
  const std::vector both{leading(values, 24), leading(weak, 24)};
  const RankRule rule{RuleKind::threshold, values[60], 2};
  EXPECT_EQ(estimate_rank(rule, both), estimate_rank(rule, known));
  EXPECT_EQ(estimate_rank(rule, std::vector{both[1], both[0]}), estimate_rank(rule, known));
  EXPECT_GT(estimate_rank(rule, known), 50);
}

}  // namespace
}  // namespace eckart::compute
