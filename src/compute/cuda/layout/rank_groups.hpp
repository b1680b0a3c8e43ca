#pragma once

#include <vector>

namespace eckart::cuda {

constexpr int kMaxGroupRanks = 8;

/// RankGroup in ascending order, and which output each is.
struct RankGroup {
  int count;
  int rank[kMaxGroupRanks], output[kMaxGroupRanks];
};

/// All ranks, each at most n, in groups that reconstruct_float16() takes at once.
std::vector<RankGroup> rank_groups(const std::vector<int>& ranks, int n);

}  // namespace eckart::cuda
