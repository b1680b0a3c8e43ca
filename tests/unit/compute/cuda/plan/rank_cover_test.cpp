#include "compute/cuda/plan/rank_cover.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "compute/rank_estimate.hpp"

namespace eckart::compute::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kFullRank = 256;
constexpr double kCompleteSeconds = 100;
constexpr double kPartPlanes = 3;
constexpr int kBatchPlanes = 25;

/// The time grows with the square of the columns.
std::vector<CoverCost> make_candidates() {
  std::vector<CoverCost> candidates;
  for (int rank = 4; rank <= 164; rank += 16)
    candidates.push_back({rank, std::pow((rank + 28) / 64.0, 2)});
  return candidates;
}

std::vector<double> make_counts(const std::vector<int>& ranks) {
  std::vector<double> counts(kFullRank + 1);
  for (const int rank : ranks) ++counts[std::size_t(rank)];
  return counts;
}

std::vector<int> covers(const std::vector<int>& ranks, double complete_seconds = kCompleteSeconds) {
  return choose_covers(make_candidates(), complete_seconds, make_counts(ranks), kPartPlanes,
                       kBatchPlanes);
}

TEST(CudaRankCover, is_one_if_all_planes_need_about_the_same) {
  EXPECT_THAT(covers({30, 31, 30, 29}), ElementsAre(36));
}

TEST(CudaRankCover, separates_planes_that_need_different_ranks) {
  EXPECT_THAT(covers({10, 11, 12, 10, 120, 125, 11, 11}), ElementsAre(20, 148));
  EXPECT_THAT(covers({10, 50, 90, 140, 10, 50, 90, 140}), ElementsAre(20, 68, 116, 164));
}

TEST(CudaRankCover, leaves_more_to_a_complete_decomposition_if_that_is_fast) {
  EXPECT_THAT(covers({10, 11, 12, 120}, 1.5), ElementsAre(20));
}

TEST(CudaRankCover, doubles_before_a_rank_is_known) {
  EXPECT_THAT(covers({}), ElementsAre(36, 84));
  EXPECT_THAT(choose_covers(std::vector<CoverCost>{{4, 1}}, 10, make_counts({}), 0, 1),
              ElementsAre(4))
      << "a rank below the first that is wanted";
}

TEST(CudaRankCover, is_empty_without_candidates) {
  EXPECT_THAT(choose_covers({}, kCompleteSeconds, make_counts({10}), 0, 1), IsEmpty());
}

TEST(CudaRankCover, is_empty_if_complete_decompositions_of_all_planes_are_faster) {
  EXPECT_THAT(covers({200, 220, 240, 10}, 0.5), IsEmpty());
  EXPECT_THAT(covers({200, 220, 240, 10}, 10), Not(IsEmpty()));
}

TEST(CudaRankCover, avoids_small_parts) {
  const std::vector<double> counts = make_counts({10, 11, 12, 10, 50, 11, 11, 12});
  const auto covers_with = [&](double part_planes) {
    return choose_covers(make_candidates(), kCompleteSeconds, counts, part_planes, 8);
  };
  EXPECT_THAT(covers_with(0), ElementsAre(20, 68));
  EXPECT_THAT(covers_with(20), ElementsAre(68));
}

/// The time of all planes, as choose_covers() documents it.
double cost(const std::vector<int>& covers, const std::vector<int>& ranks) {
  const std::vector<CoverCost> candidates = make_candidates();
  std::map<double, int> planes_of_parts;  // by seconds
  for (const int rank : ranks) {
    const int wanted = rank_to_cover(rank, kFullRank);
    const auto cover = std::ranges::find_if(covers, [&](int covered) { return covered >= wanted; });
    if (cover == covers.begin()) continue;
    const auto candidate = cover == covers.end()
                               ? candidates.end()
                               : std::ranges::find(candidates, *cover, &CoverCost::rank);
    ++planes_of_parts[candidate == candidates.end() ? kCompleteSeconds : candidate->seconds];
  }
  const auto all = double(ranks.size());
  double sum = all * std::ranges::find(candidates, covers.front(), &CoverCost::rank)->seconds;
  for (const auto& [seconds, planes] : planes_of_parts)
    sum += seconds * (planes + kPartPlanes * std::min(double(planes), all / kBatchPlanes));
  return sum;
}

TEST(CudaRankCover, takes_the_least_time) {
  std::mt19937 random(7);
  const std::vector<CoverCost> candidates = make_candidates();
  for (int round = 0; round < 20; ++round) {
    std::lognormal_distribution<double> distribution(3.5, 0.2 + 0.05 * round);
    std::vector<int> ranks;
    for (int i = 0; i < 50; ++i)
      ranks.push_back(std::clamp(int(distribution(random)), 1, kFullRank));
    double least = std::numeric_limits<double>::infinity();
    for (unsigned set = 1; set < 1U << candidates.size(); ++set) {
      std::vector<int> some;
      for (std::size_t i = 0; i < candidates.size(); ++i)
        if ((set >> i & 1U) != 0) some.push_back(candidates[i].rank);
      if (some.size() <= kMaxCovers) least = std::min(least, cost(some, ranks));
    }
    const std::vector<int> chosen = covers(ranks);
    EXPECT_LE(chosen.size(), std::size_t(kMaxCovers));
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    EXPECT_NEAR(cost(chosen, ranks), least, 1e-9 * least);
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
