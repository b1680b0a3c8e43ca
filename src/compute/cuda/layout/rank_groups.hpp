#pragma once

#include <vector>

namespace eckart::compute::cuda {

constexpr int kMaxGroupRanks = 8;

/// Ranks in ascending order, each with the index of its output.
struct RankGroup {
  int count;
  int rank[kMaxGroupRanks], output[kMaxGroupRanks];
};

/// Splits `ranks`, each limited to n, into groups that reconstruct_float16() computes in one pass.
std::vector<RankGroup> rank_groups(const std::vector<int>& ranks, int n);

}  // namespace eckart::compute::cuda
