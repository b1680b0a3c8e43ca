#pragma once

#include <vector>

namespace eckart::compute::cuda {

/// Chooses the largest rank that the factors of the next batch cover, if ranks depend on singular
/// values. It is a little above the rank that 99 % of the planes of earlier batches needed; planes
/// that need more are recomputed. Not thread-safe.
class RankTuner {
 public:
  /// `full_rank` is the number of columns of the planes.
  explicit RankTuner(int full_rank = 1);

  int next() const { return next_; }

  /// Reports the largest rank of each plane of a batch. It grows at once, and shrinks slowly.
  void update(std::vector<int> ranks);

 private:
  int full_rank_, next_;
};

}  // namespace eckart::compute::cuda
