#pragma once

#include <span>
#include <vector>

namespace eckart::compute::cuda {

/// A rank that the factors of a stage may cover, and the time of a plane then, in any unit.
struct CoverCost {
  int rank;
  double seconds;
};

/// Chooses the ranks that the stages of an adaptive plan cover, increasing, at most kMaxCovers. All
/// planes go through the first stage. Those that need more go to the stage that covers the rank
/// estimated for them, and those above all covers to a complete decomposition, in
/// `complete_seconds`.
///
/// `candidates` are in increasing order. counts[k] is the number of planes that needed rank k
/// before. If they are all zero, each cover has twice the rank of the one before. None is chosen if
/// a complete decomposition of all planes is faster.
/// A stage but the first computes a part of each batch of `batch_planes` planes. Unless that is
/// empty, it takes as long as for `part_planes` more planes.
std::vector<int> choose_covers(std::span<const CoverCost> candidates, double complete_seconds,
                               std::span<const double> counts, double part_planes,
                               int batch_planes);

constexpr int kMaxCovers = 4;

}  // namespace eckart::compute::cuda
