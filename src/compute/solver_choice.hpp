#pragma once

#include <climits>
#include <map>
#include <mutex>
#include <vector>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart {

/// The solver for this batch, and why. Follows `requested` where that solver can do it; automatic
/// is the one of subspace and gram that the cost model expects to be done first, counting planes
/// that subspace is going to leave to gram. Where subspace would work with more than three of four
/// columns gram takes its place; gram takes planes of `most_gram_columns` at most. A pure function:
/// no device, no clock.
SolverChoice choose_solver(SolverKind requested, const BatchSize& batch, int most_gram_columns,
                           const SolverCosts& costs);

/// Chooses for every shape once, and knows what it chose. Thread-safe.
class SolverChooser {
 public:
  SolverChooser(SolverKind requested, const SolverCosts& costs)
      : requested_(requested), costs_(costs) {}
  /// Nothing but the shape may differ between batches of one shape.
  SolverKind choose(const BatchSize& batch, int most_gram_columns = INT_MAX);
  /// By shape, the largest first, a hundred at most.
  std::vector<SolverChoice> choices() const;

 private:
  const SolverKind requested_;
  const SolverCosts costs_;
  mutable std::mutex mutex_;
  std::map<PaddedShape, SolverChoice> choices_;
};

/// Columns that block subspace iteration works with on CUDA to find `rank` vectors: a quarter more,
/// 28 at least, and a multiple of 16; or `most_narrow`, that the float16 kernels take, where that
/// is 28 more at least.
int subspace_columns(int rank, int most_narrow);

}  // namespace eckart
