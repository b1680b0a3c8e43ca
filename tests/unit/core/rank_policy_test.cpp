#include "core/rank_policy.hpp"

#include <gtest/gtest.h>

#include "core/rank_spec.hpp"

namespace eckart {
namespace {

constexpr ImageShape kGray{512, 256, 1, Depth::u8};

int choose(std::string_view spec, const ImageShape& shape) {
  return choose_rank(parse_ranks(spec).front(), shape);
}

TEST(RankPolicy, chooses_at_most_full_rank) {
  EXPECT_EQ(choose_rank(20, {512, 512, 1, Depth::u8}), 20);
  EXPECT_EQ(choose_rank(20, {512, 8, 1, Depth::u8}), 8);
  EXPECT_EQ(choose_rank(20, {8, 512, 1, Depth::u8}), 8);
  EXPECT_EQ(choose_rank(1, {1, 1, 1, Depth::u8}), 1);
  EXPECT_EQ(choose("full", kGray), 256);
}

TEST(ScaleLevels, changes_only_ranks_that_are_given_in_levels) {
  using Kind = RankPolicy::Kind;
  for (const Kind kind : {Kind::rmse, Kind::gavish_donoho})
    EXPECT_EQ(scale_levels({kind, 3}, 0.5), (RankPolicy{kind, 1.5}));
  for (const Kind kind : {Kind::rank, Kind::percent, Kind::bytes, Kind::full, Kind::energy,
                          Kind::psnr, Kind::marchenko_pastur})
    EXPECT_EQ(scale_levels({kind, 3}, 0.5), (RankPolicy{kind, 3}));
}

TEST(RankPolicy, takes_a_percentage_of_the_full_rank) {
  EXPECT_EQ(choose("100%", kGray), 256);
  EXPECT_EQ(choose("10%", kGray), 26);  // of 25.6
  EXPECT_EQ(choose("0.001%", kGray), 1);
}

TEST(RankPolicy, keeps_the_factors_below_a_share_of_the_bytes) {
  for (const ImageShape& shape : {kGray, ImageShape{300, 200, 3, Depth::u16}}) {
    const int rank = choose("bytes:50%", shape);
    const auto factor_bytes = [&](int k) {
      return std::int64_t(k) * shape.channels * triplet_bytes(shape.rows, shape.cols);
    };
    EXPECT_LE(factor_bytes(rank), std::int64_t(shape.bytes()) / 2);
    EXPECT_GT(factor_bytes(rank + 1), std::int64_t(shape.bytes()) / 2);
  }
  EXPECT_EQ(choose("bytes:0.01%", kGray), 1) << "at least one triplet";
  EXPECT_EQ(choose("bytes:10000%", kGray), 256);
}

TEST(RankPolicy, keeps_all_factors_below_a_share_of_the_bytes_if_chroma_has_its_own_rank) {
  constexpr ImageShape kColor{300, 200, 3, Depth::u8};
  const RankPolicy half = parse_ranks("bytes:50%").front();
  const auto share = [&](double luma_rank, double chroma_rank) {
    return (luma_rank + 2 * chroma_rank) * double(triplet_bytes(300, 200)) / double(kColor.bytes());
  };
  for (const char* spec : {"1", "10", "5%"}) {
    const RankPolicy chroma = parse_ranks(spec).front();
    const double rank = resolve(half, kColor, chroma).value;
    EXPECT_LE(share(rank, choose_rank(chroma, kColor)), 0.5) << spec;
    EXPECT_GT(share(rank + 1, choose_rank(chroma, kColor)), 0.5) << spec;
  }
  EXPECT_EQ(resolve(half, kColor, parse_ranks("full").front()), RankPolicy(1));
  EXPECT_EQ(resolve(20, kColor, RankPolicy(100)), RankPolicy(20));
  EXPECT_EQ(resolve(half, kColor, parse_ranks("psnr:30").front()), resolve(half, kColor))
      << "the rank of chroma is not known";
}

TEST(RankPolicy, resolves_what_the_shape_determines) {
  EXPECT_EQ(resolve(parse_ranks("10%").front(), kGray), RankPolicy(26));
  EXPECT_EQ(resolve(1000, kGray), RankPolicy(256));
  for (const char* spec : {"energy:0.9", "psnr:35", "rmse:2", "gd", "gd:sigma=3", "mp"}) {
    const RankPolicy policy = parse_ranks(spec).front();
    EXPECT_EQ(resolve(policy, kGray), policy) << spec;
    EXPECT_EQ(max_rank(policy, 512, 256), 256) << spec;
  }
  EXPECT_EQ(max_rank(20, 512, 256), 20);
  EXPECT_EQ(max_rank(20, 512, 8), 8);
}

TEST(RankPolicy, covers_policies_that_never_choose_more) {
  const auto largest = [](const char* specs) {
    return to_string(largest_policies(parse_ranks(specs)));
  };
  EXPECT_EQ(largest("5,20,10"), "20");
  EXPECT_EQ(largest("5,psnr:30,20,psnr:35"), "20,psnr:35") << "which has more depends on the image";
  EXPECT_EQ(largest("rmse:2,rmse:1,energy:0.9,energy:0.99"), "rmse:1,energy:0.99");
  EXPECT_EQ(largest("gd,gd:sigma=3,gd:sigma=2,mp"), "gd,gd:sigma=2,mp");
  EXPECT_EQ(largest("5,full,psnr:99"), "full");
  EXPECT_EQ(largest("full"), "full");
  EXPECT_EQ(largest("10%,50%,bytes:20%,bytes:10%"), "50%,bytes:20%");
  EXPECT_EQ(largest("psnr:40,energy:0.5,mp,7"), "psnr:40,energy:0.5,mp,7") << "the order is kept";
}

TEST(RankPolicy, depends_on_the_shape_or_assumes_noise_by_its_kind) {
  using Kind = RankPolicy::Kind;
  struct Case {
    Kind kind;
    bool is_of_shape, assumes_noise;
  };
  for (const Case& expected :
       {Case{Kind::rank, true, false}, Case{Kind::percent, true, false},
        Case{Kind::bytes, true, false}, Case{Kind::full, true, false},
        Case{Kind::energy, false, false}, Case{Kind::psnr, false, false},
        Case{Kind::rmse, false, false}, Case{Kind::gavish_donoho, false, true},
        Case{Kind::marchenko_pastur, false, true}}) {
    const RankPolicy policy(expected.kind, 1);
    EXPECT_EQ(depends_on_shape_only(policy), expected.is_of_shape) << to_string(policy);
    EXPECT_EQ(assumes_white_noise(policy), expected.assumes_noise) << to_string(policy);
    if (expected.is_of_shape) continue;
    EXPECT_THROW(choose_rank(policy, kGray), std::logic_error) << to_string(policy);
  }
}

TEST(Triplet, counts_bytes_and_channels) {
  EXPECT_EQ(triplet_bytes(300, 200), 4 * 501);
  EXPECT_EQ(triplet_bytes(2147483647, 2147483647), 4 * (2 * 2147483647LL + 1));
  EXPECT_EQ(triplet_count(1, 20), 20);
  EXPECT_EQ(triplet_count(3, 20), 60);
  EXPECT_EQ(triplet_count(3, 20, 5), 30);
  EXPECT_EQ(triplet_count(1, 20, 5), 20);
}

}  // namespace
}  // namespace eckart
