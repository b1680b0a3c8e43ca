#include "compute/cuda/plan/rank_history.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace eckart::compute::cuda {
namespace {

double total(const RankHistory& history) {
  return std::accumulate(history.counts().begin(), history.counts().end(), 0.0);
}

TEST(CudaRankHistory, counts_planes_by_rank) {
  RankHistory history(8);
  EXPECT_EQ(history.counts().size(), 9U);
  EXPECT_EQ(total(history), 0);
  history.add(std::vector{3, 3, 8});
  history.add(std::vector{3, 0});
  EXPECT_EQ(history.counts()[3], 3);
  EXPECT_EQ(history.counts()[8], 1);
  EXPECT_EQ(history.counts()[0], 1);
}

TEST(CudaRankHistory, forgets_earlier_planes) {
  RankHistory history(8);
  const std::vector<int> batch(512, 2), later(512, 6);
  for (int i = 0; i < 100; ++i) history.add(batch);
  for (int i = 0; i < 32; ++i) history.add(later);
  EXPECT_LE(total(history), 4096);
  EXPECT_GT(history.counts()[6], 10 * history.counts()[2]);
}

}  // namespace
}  // namespace eckart::compute::cuda
