#include "compute/cuda/layout/rank_groups.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace eckart::compute::cuda {

std::vector<RankGroup> rank_groups(const std::vector<int>& ranks, int n) {
  std::vector<std::pair<int, int>> ascending;  // rank, output
  ascending.reserve(ranks.size());
  for (const int rank : ranks) ascending.emplace_back(std::min(rank, n), int(ascending.size()));
  std::sort(ascending.begin(), ascending.end());
  std::vector<RankGroup> groups;
  for (std::size_t first = 0; first < ascending.size(); first += kMaxGroupRanks) {
    RankGroup group{int(std::min<std::size_t>(kMaxGroupRanks, ascending.size() - first)), {}, {}};
    for (int i = 0; i < group.count; ++i) {
      std::tie(group.rank[i], group.output[i]) = ascending[first + std::size_t(i)];
    }
    groups.push_back(group);
  }
  return groups;
}

}  // namespace eckart::compute::cuda
