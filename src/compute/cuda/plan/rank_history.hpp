#pragma once

#include <span>
#include <vector>

namespace eckart::compute::cuda {

/// How many planes of earlier batches of a kind needed which rank. Later planes count more. Not
/// thread-safe.
class RankHistory {
 public:
  /// `full_rank` is the number of columns of the planes.
  explicit RankHistory(int full_rank = 1) : counts_(std::size_t(full_rank) + 1) {}

  /// Adds the largest rank of each plane of a batch, from 0 to the full rank.
  void add(std::span<const int> ranks);

  /// The number of planes by rank, from 0 to the full rank.
  std::span<const double> counts() const { return counts_; }

 private:
  std::vector<double> counts_;
  double total_ = 0;
};

}  // namespace eckart::compute::cuda
