#pragma once

#include <climits>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart {

/// The solver for this batch, and why. Follows `requested` where that solver can do it; automatic
/// is the one of subspace and gram that the cost model expects to be done first, counting planes
/// that subspace is going to leave to gram. Where subspace would work with more than three of four
/// columns gram takes its place; gram takes planes of `max_gram_columns` at most. A pure function:
/// no device, no clock.
SolverChoice choose_solver(SolverKind requested, const BatchWorkload& batch, int max_gram_columns,
                           const SolverCosts& costs);

/// Chooses for every shape and rank once, and knows what it chose for the largest. Thread-safe.
class SolverChooser {
 public:
  SolverChooser(SolverKind requested, const SolverCosts& costs)
      : requested_(requested), costs_(costs) {}
  /// Between batches of one shape and rank nothing may differ.
  SolverKind choose(const BatchWorkload& batch, int max_gram_columns = INT_MAX);
  /// By shape and rank, the largest first, a hundred at most.
  std::vector<SolverChoice> solver_choices() const;

 private:
  const SolverKind requested_;
  const SolverCosts costs_;
  mutable std::mutex mutex_;
  std::map<std::pair<PaddedShape, int>, SolverChoice> choices_;  // by shape and rank
};

}  // namespace eckart
