#pragma once

#include <vector>

namespace eckart::cuda {

constexpr int kRanksAtOnce = 8;

/// Ranks in ascending order, and which output each is.
struct Ranks {
  int count;
  int rank[kRanksAtOnce], output[kRanksAtOnce];
};

/// All ranks, each at most n, in groups that reconstruct_halves() takes at once.
std::vector<Ranks> rank_groups(const std::vector<int>& ranks, int n);

}  // namespace eckart::cuda
