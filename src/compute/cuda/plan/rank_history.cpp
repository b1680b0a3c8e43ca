#include "compute/cuda/plan/rank_history.hpp"

#include <algorithm>
#include <cstddef>

namespace eckart::compute::cuda {
namespace {

constexpr double kMaxPlanes = 4096;  // when there are more, each counts half

}  // namespace

void RankHistory::add(std::span<const int> ranks) {
  for (const int rank : ranks)
    ++counts_[std::min(std::size_t(std::max(rank, 0)), counts_.size() - 1)];
  total_ += double(ranks.size());
  while (total_ > kMaxPlanes) {
    for (double& count : counts_) count /= 2;
    total_ /= 2;
  }
}

}  // namespace eckart::compute::cuda
