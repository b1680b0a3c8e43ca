#include "compute/cuda/plan/rank_cover.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "compute/rank_estimate.hpp"

namespace eckart::compute::cuda {
namespace {

// The first cover before any rank is known: this share of the full rank, and at least
// kMinFirstRank.
constexpr int kFirstRankDivisor = 8;
constexpr int kMinFirstRank = 16;

/// The least cost of the planes that need more than a cover, with up to `stages` more of them.
struct Rest {
  double cost = 0;
  std::size_t next = 0;  ///< the next cover; the number of candidates: a complete decomposition
};

/// Numbers of planes by the rank that is to be covered for them.
class Demand {
 public:
  explicit Demand(std::span<const double> counts) : at_most_(counts.size()) {
    const int full_rank = int(counts.size()) - 1;
    for (int rank = 0; rank <= full_rank; ++rank)
      at_most_[std::size_t(rank_to_cover(rank, full_rank))] += counts[std::size_t(rank)];
    for (std::size_t i = 1; i < at_most_.size(); ++i) at_most_[i] += at_most_[i - 1];
  }
  double total() const { return at_most_.back(); }
  double between(int rank, int last_rank) const { return up_to(last_rank) - up_to(rank); }
  double above(int rank) const { return total() - up_to(rank); }

 private:
  double up_to(int rank) const {
    return at_most_[std::min(std::size_t(rank), at_most_.size() - 1)];
  }
  std::vector<double> at_most_;
};

std::vector<int> doubled_covers(std::span<const CoverCost> candidates, int full_rank) {
  std::vector<int> covers;
  int wanted = std::max(kMinFirstRank, full_rank / kFirstRankDivisor);
  for (const CoverCost& candidate : candidates) {
    if (covers.size() == kMaxCovers || candidate.rank < wanted) continue;
    covers.push_back(candidate.rank);
    wanted = 2 * candidate.rank;
  }
  if (covers.empty()) covers.push_back(candidates.back().rank);
  return covers;
}

}  // namespace

std::vector<int> choose_covers(std::span<const CoverCost> candidates, double complete_seconds,
                               std::span<const double> counts, double part_planes,
                               int batch_planes) {
  if (candidates.empty()) return {};
  const Demand demand(counts);
  if (demand.total() <= 0) return doubled_covers(candidates, int(counts.size()) - 1);
  const auto part = [&](double planes) {
    return planes + part_planes * std::min(planes, demand.total() / batch_planes);
  };
  const std::size_t size = candidates.size();
  std::vector<std::array<Rest, kMaxCovers>> rest(size);  // after each cover, with 0, 1, … more
  for (std::size_t i = size; i-- > 0;) {
    const int rank = candidates[i].rank;
    for (int stages = 0; stages < kMaxCovers; ++stages) {
      Rest best{complete_seconds * part(demand.above(rank)), size};
      for (std::size_t j = i + 1; stages > 0 && j < size; ++j) {
        const double cost = candidates[j].seconds * part(demand.between(rank, candidates[j].rank)) +
                            rest[j][std::size_t(stages - 1)].cost;
        const bool skips_a_cover = cost == best.cost && best.next < size;  // that no plane needs
        if (cost < best.cost || skips_a_cover) best = {cost, j};
      }
      rest[i][std::size_t(stages)] = best;
    }
  }
  const auto total = [&](std::size_t first) {
    return candidates[first].seconds * demand.total() + rest[first][kMaxCovers - 1].cost;
  };
  std::size_t cover = 0;
  for (std::size_t i = 1; i < size; ++i)
    if (total(i) < total(cover)) cover = i;
  if (complete_seconds * demand.total() <= total(cover)) return {};
  std::vector<int> covers;
  for (int stages = kMaxCovers - 1; cover < size; --stages) {
    covers.push_back(candidates[cover].rank);
    cover = rest[cover][std::size_t(stages)].next;
  }
  return covers;
}

}  // namespace eckart::compute::cuda
