#include "compute/cuda/layout/rank_groups.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace eckart::cuda {

std::vector<Ranks> rank_groups(const std::vector<int>& ranks, int n) {
  std::vector<std::pair<int, int>> ascending;  // rank, output
  for (const int rank : ranks) ascending.emplace_back(std::min(rank, n), int(ascending.size()));
  std::sort(ascending.begin(), ascending.end());
  std::vector<Ranks> groups;
  for (std::size_t first = 0; first < ascending.size(); first += kRanksAtOnce) {
    Ranks some{int(std::min<std::size_t>(kRanksAtOnce, ascending.size() - first)), {}, {}};
    for (int i = 0; i < some.count; ++i) {
      std::tie(some.rank[i], some.output[i]) = ascending[first + std::size_t(i)];
    }
    groups.push_back(some);
  }
  return groups;
}

}  // namespace eckart::cuda
