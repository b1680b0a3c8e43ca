#include "compute/cuda/plan/rank_tuner.hpp"

#include <algorithm>

namespace eckart::compute::cuda {
namespace {

// The first batch covers this share of the full rank, and at least kMinFirstRank.
constexpr int kFirstRankDivisor = 8;
constexpr int kMinFirstRank = 16;
// Up to one plane in 100 may need more.
constexpr std::size_t kPlanesPerRecomputed = 100;
// Ranks more than needed: at least kMinMargin, and the rank / kMarginDivisor.
constexpr int kMinMargin = 4;
constexpr int kMarginDivisor = 16;
constexpr int kShrinkDivisor = 4;  // of the distance to a smaller rank

}  // namespace

RankTuner::RankTuner(int full_rank)
    : full_rank_(full_rank),
      next_(std::min(full_rank, std::max(kMinFirstRank, full_rank / kFirstRankDivisor))) {}

void RankTuner::update(std::vector<int> ranks) {
  if (ranks.empty()) return;
  const auto nth = ranks.end() - 1 - std::ptrdiff_t(ranks.size() / kPlanesPerRecomputed);
  std::nth_element(ranks.begin(), nth, ranks.end());
  const int wanted = std::min(full_rank_, *nth + std::max(kMinMargin, *nth / kMarginDivisor));
  next_ = wanted >= next_ ? wanted : next_ - (next_ - wanted) / kShrinkDivisor;
}

}  // namespace eckart::compute::cuda
