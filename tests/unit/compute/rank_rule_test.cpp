#include "compute/rank_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compute/known_ranks.hpp"

namespace eckart::compute {
namespace {

using testing::ElementsAre;
using testing::Optional;
using Kind = RankPolicy::Kind;

constexpr ImageShape kShape{4, 6, 1, Depth::u8};

/// The spectrum of a plane with these squared singular values; `count` of them are known.
PlaneSpectrum spectrum(const std::vector<double>& values, int count = -1, int cols = 1000) {
  PlaneSpectrum plane{.values = values.data(),
                      .count = count < 0 ? int(values.size()) : count,
                      .rows = int(values.size()),
                      .cols = cols};
  for (const double value : values) plane.squared_norm += value;
  return plane;
}

/// The ranks of the planes, or nothing if more values are needed.
std::vector<int> ranks_of(const RankRule& rule, const std::vector<PlaneSpectrum>& planes) {
  std::vector<int> ranks(planes.size());
  const bool is_enough = choose_ranks(rule, planes.data(), int(planes.size()), ranks.data());
  return is_enough ? ranks : std::vector<int>{};
}

TEST(RankRule, keeps_the_smallest_rank_with_enough_energy) {
  const std::vector<double> values{50, 30, 15, 5};
  const auto rank = [&](double energy) {
    return ranks_of(make_rank_rule({Kind::energy, energy}, kShape, 255), {spectrum(values)});
  };
  EXPECT_THAT(rank(0.5), ElementsAre(1));
  EXPECT_THAT(rank(0.501), ElementsAre(2));
  EXPECT_THAT(rank(0.949), ElementsAre(3));
  EXPECT_THAT(rank(0.951), ElementsAre(4));
  EXPECT_THAT(rank(1), ElementsAre(4));
  EXPECT_THAT(rank(0.1), ElementsAre(1));
}

TEST(RankRule, shares_one_threshold_between_channels) {
  const std::vector<double> red{50, 30, 2}, green{40, 1, 1}, blue{3, 2, 1};
  const std::vector<PlaneSpectrum> planes{spectrum(red), spectrum(green), spectrum(blue)};
  // 130 in all. Each channel keeps its first value: 93.
  EXPECT_THAT(ranks_of({RankRule::Kind::missing_share, 37.0 / 130}, planes), ElementsAre(1, 1, 1));
  EXPECT_THAT(ranks_of({RankRule::Kind::squared_error, 36.9}, planes), ElementsAre(2, 1, 1));
  EXPECT_THAT(ranks_of({RankRule::Kind::squared_error, 5}, planes), ElementsAre(3, 1, 1));
  EXPECT_THAT(ranks_of({RankRule::Kind::squared_error, 0.1}, planes), ElementsAre(3, 3, 3));
}

/// Otherwise factors would be read that were not computed.
TEST(RankRule, chooses_no_rank_beyond_the_known_values) {
  const std::vector<double> values{50, 30, 15, 5};
  const PlaneSpectrum plane = spectrum(values, 2);
  for (const RankRule& rule :
       {RankRule{RankRule::Kind::rank, 4}, RankRule{RankRule::Kind::squared_error, 1},
        RankRule{RankRule::Kind::threshold, 1}, RankRule{RankRule::Kind::marchenko_pastur, 0}}) {
    int rank = 0;
    EXPECT_FALSE(choose_ranks(rule, &plane, 1, &rank));
    EXPECT_EQ(rank, 2);
  }
}

/// Eigenvalues of A'A below the rounding error of the largest mean nothing.
TEST(RankRule, needs_the_svd_of_a_for_errors_that_its_square_does_not_resolve) {
  const std::vector<double> values{1e20, 4, 1, 1, 1};
  const RankRule rule{RankRule::Kind::squared_error, 2.5};
  PlaneSpectrum plane = spectrum(values);
  EXPECT_TRUE(ranks_of(rule, {plane}).empty());
  plane.is_svd_of_a = true;
  EXPECT_THAT(ranks_of(rule, {plane}), ElementsAre(3)) << "the sum of the rest, not a difference";
  EXPECT_THAT(ranks_of({RankRule::Kind::squared_error, 1e6}, {spectrum(values)}), ElementsAre(1));
}

TEST(RankRule, needs_more_values_if_the_known_ones_do_not_decide) {
  const std::vector<double> values{50, 30, 15, 5};
  const RankRule error{RankRule::Kind::squared_error, 10}, threshold{RankRule::Kind::threshold, 20};
  EXPECT_THAT(ranks_of(error, {spectrum(values, 2)}), ElementsAre());
  EXPECT_THAT(ranks_of(error, {spectrum(values, 3)}), ElementsAre(3));
  EXPECT_THAT(ranks_of(threshold, {spectrum(values, 2)}), ElementsAre());
  EXPECT_THAT(ranks_of(threshold, {spectrum(values, 3)}), ElementsAre(2));
  for (const auto kind : {RankRule::Kind::median_threshold, RankRule::Kind::marchenko_pastur}) {
    EXPECT_THAT(ranks_of({kind, 1}, {spectrum(values, 3)}), ElementsAre());
    EXPECT_TRUE(needs_full_spectrum(kind));
  }
  EXPECT_FALSE(needs_full_spectrum(error.kind));
}

TEST(RankRule, asks_for_values_of_the_channel_that_lacks_them) {
  const std::vector<double> red{50, 30, 15, 5}, green{40, 1, 1, 1};
  const PlaneSpectrum planes[] = {spectrum(red, 2), spectrum(green, 2)};
  int ranks[2];
  EXPECT_FALSE(choose_ranks({RankRule::Kind::squared_error, 10}, planes, 2, ranks));
  EXPECT_EQ(ranks[0], 2);
  EXPECT_LT(ranks[1], 2);
}

TEST(RankRule, reads_values_in_any_order_and_scale) {
  const std::vector<double> ascending{5, 15, 30, 50};
  PlaneSpectrum plane = spectrum(ascending);
  plane.values = &ascending.back();
  plane.step = -1;
  plane.scale = 2;
  plane.squared_norm *= 2;
  EXPECT_EQ(plane[0], 100);
  EXPECT_EQ(plane[3], 10);
  EXPECT_THAT(ranks_of({RankRule::Kind::squared_error, 40}, {plane}), ElementsAre(2));
}

TEST(RankRule, ignores_values_at_rounding_level) {
  const std::vector<double> flat{1e6, 1e-11, 1e-12, 1e-12};
  EXPECT_THAT(ranks_of({RankRule::Kind::median_threshold, 1}, {spectrum(flat)}), ElementsAre(1));
  EXPECT_THAT(ranks_of({RankRule::Kind::marchenko_pastur, 0}, {spectrum(flat)}), ElementsAre(1));
}

TEST(RankRule, leaves_room_for_rounding_to_pixels) {
  // 35 dB is a mean squared error of 20.56; rounding adds 1/12.
  const RankRule psnr = make_rank_rule({Kind::psnr, 35}, kShape, 255);
  EXPECT_EQ(psnr.kind, RankRule::Kind::squared_error);
  EXPECT_NEAR(psnr.limit, 24 * (255 * 255 / std::pow(10, 3.5) - 1.0 / 12), 1e-9);
  EXPECT_NEAR(make_rank_rule({Kind::rmse, 2}, kShape, 255).limit, 24 * (4 - 1.0 / 12), 1e-9);
  // Below the variance of rounding the error of most pixels rounds to zero.
  EXPECT_NEAR(make_rank_rule({Kind::rmse, 0.1}, kShape, 255).limit, 24 * 0.01 / 1.34, 1e-9);
}

TEST(RankRule, uses_the_thresholds_of_gavish_and_donoho) {
  // Tables II and IV of the paper's supplement: lambda(beta) and omega(beta).
  constexpr double kTable[][3] = {{0.05, 1.5066, 1.5194}, {0.10, 1.5816, 1.6089},
                                  {0.25, 1.7580, 1.8371}, {0.50, 1.9786, 2.1711},
                                  {0.75, 2.1561, 2.5011}, {1.00, 2.3094, 2.8582}};
  for (const auto& [beta, known, unknown] : kTable) {
    EXPECT_NEAR(hard_threshold(beta), known, 5e-5) << beta;
    EXPECT_NEAR(hard_threshold_of_median(beta), unknown, 1e-3) << beta;
  }
  EXPECT_NEAR(hard_threshold(1), 4 / std::sqrt(3), 1e-12);
}

TEST(RankRule, scales_the_threshold_with_the_noise_and_the_longer_side) {
  for (const auto& [rows, cols] : {std::pair(100, 400), std::pair(400, 100)}) {
    const RankRule rule = make_rank_rule({Kind::gavish_donoho, 3}, {rows, cols, 1, Depth::u8}, 255);
    EXPECT_EQ(rule.kind, RankRule::Kind::threshold);
    EXPECT_NEAR(std::sqrt(rule.limit), hard_threshold(0.25) * 20 * 3, 1e-9) << rows;
  }
}

TEST(RankRule, compares_with_the_median_singular_value) {
  const std::vector<double> odd{900, 16, 9, 4, 1}, even{900, 16, 4, 1};
  const auto rank = [](const std::vector<double>& values, double times) {
    return ranks_of({RankRule::Kind::median_threshold, times * times}, {spectrum(values)});
  };
  EXPECT_THAT(rank(odd, 1.3), ElementsAre(2)) << "4 > 1.3 * 3";
  EXPECT_THAT(rank(odd, 1.4), ElementsAre(1));
  EXPECT_THAT(rank(even, 1.3), ElementsAre(2)) << "4 > 1.3 * (4 + 2) / 2";
  EXPECT_THAT(rank(even, 1.4), ElementsAre(1));
}

TEST(RankRule, decides_the_ranks_of_channels_by_their_own_noise) {
  const std::vector<double> quiet{900, 400, 1, 1, 1}, noisy{900, 400, 300, 300, 300};
  EXPECT_THAT(ranks_of({RankRule::Kind::median_threshold, 4}, {spectrum(quiet), spectrum(noisy)}),
              ElementsAre(2, 1));
}

/// The first channel has more values. A decomposition would compare them with those of the others.
TEST(KnownRank, is_that_of_a_decomposition_if_the_image_is_known) {
  const Factors first{.rows = 4, .cols = 4, .s = {7, 5}, .squared_norm = 94},
      other{.rows = 4, .cols = 4, .s = {3, 2, 1, 1}, .squared_norm = 15};
  Task task;
  task.input = Image({4, 4, 3, Depth::u8});
  task.ranks = {{Kind::energy, 0.8}};
  task.known_factors = {first, other, other};
  const ChannelGroup all = channel_groups(task)[0];
  EXPECT_THAT(choose_known_ranks(task, 0, all), Optional(ElementsAre(2, 2, 2)));
  task.known_loss_db = 0;
  EXPECT_EQ(choose_known_ranks(task, 0, all), std::nullopt);
}

TEST(RankRule, has_the_kind_and_limit_of_its_policy) {
  const ImageShape color{4, 6, 3, Depth::u8}, floats{4, 6, 3, Depth::f32};
  EXPECT_EQ(make_rank_rule({Kind::energy, 0.75}, color, 255),
            (RankRule{RankRule::Kind::missing_share, 0.25, 3}));
  EXPECT_EQ(make_rank_rule(RankPolicy(3), color, 255), (RankRule{RankRule::Kind::rank, 3, 3}));
  EXPECT_EQ(make_rank_rule(RankPolicy(9), color, 255), (RankRule{RankRule::Kind::rank, 4, 3}));
  EXPECT_EQ(make_rank_rule({Kind::marchenko_pastur, 0}, color, 255),
            (RankRule{RankRule::Kind::marchenko_pastur, 0, 3}));
  const RankRule noise = make_rank_rule({Kind::gavish_donoho, 0}, color, 255);
  EXPECT_EQ(noise.kind, RankRule::Kind::median_threshold);
  EXPECT_DOUBLE_EQ(noise.limit, std::pow(hard_threshold_of_median(4.0 / 6), 2));
  // Floats are not rounded.
  EXPECT_DOUBLE_EQ(make_rank_rule({Kind::rmse, 2}, floats, 1).limit, 72 * 4);
  EXPECT_DOUBLE_EQ(make_rank_rule({Kind::psnr, 20}, floats, 5).limit, 72 * 25 / 100.0);
  // Steps of a quarter level.
  EXPECT_DOUBLE_EQ(make_rank_rule({Kind::rmse, 2}, color, 255, 0.25).limit, 72 * (4 - 0.0625 / 12));
}

TEST(RankRule, gives_the_singular_values_of_a_complete_spectrum) {
  const std::vector<double> squares{25, 4, 0}, roots{5, 2, 0};
  EXPECT_THAT(singular_values(spectrum(squares)), ElementsAre(5, 2, 0));
  PlaneSpectrum plane = spectrum(squares);
  plane.values = roots.data();
  plane.are_roots = true;
  plane.scale = 4;
  EXPECT_THAT(singular_values(plane), ElementsAre(10, 4, 0));
}

TEST(RankRule, keeps_values_above_a_threshold_and_at_least_one) {
  const std::vector<double> values{50, 30, 15, 5};
  const auto rank = [&](double limit) {
    return ranks_of({RankRule::Kind::threshold, limit}, {spectrum(values)});
  };
  EXPECT_THAT(rank(60), ElementsAre(1));
  EXPECT_THAT(rank(30), ElementsAre(1)) << "not above";
  EXPECT_THAT(rank(29), ElementsAre(2));
  EXPECT_THAT(rank(1), ElementsAre(4));
}

/// With the noise edge of Veraart et al.: the smallest values lie in the range of noise.
TEST(RankRule, finds_the_edge_of_the_noise) {
  const auto rank = [](const std::vector<double>& values, int cols) {
    return ranks_of({RankRule::Kind::marchenko_pastur, 0}, {spectrum(values, -1, cols)});
  };
  // Of p values and q columns, the range may be 4 sqrt(p / (q - n + p)) of the mean.
  EXPECT_THAT(rank({100, 3, 2, 1}, 4), ElementsAre(1));
  EXPECT_THAT(rank({100, 3, 2, 1}, 1000), ElementsAre(3));
  EXPECT_THAT(rank({9, 9, 9, 9}, 4), ElementsAre(1));
  EXPECT_THAT(rank({100, 50, 25, 1}, 100), ElementsAre(3));
}

}  // namespace
}  // namespace eckart::compute
