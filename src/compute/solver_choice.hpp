#pragma once

#include "compute/backend.hpp"

namespace eckart {

/// The solver for planes padded to `shape` of which `rank` singular vectors are wanted, on a device
/// whose subspace solver takes `most_subspace_columns`. Follows `requested` where that solver can
/// do it. A pure function: no device, no clock.
SolverKind choose_solver(SolverKind requested, PaddedShape shape, int rank,
                         int most_subspace_columns);

/// Columns that block subspace iteration works with to find `rank` vectors.
int subspace_columns(int rank);

/// Rounds that the iteration begins with, and at least and at most does.
constexpr int kFirstRounds = 6, kFewestRounds = 2, kMostRounds = 10;

/// Rounds for the next batch of a shape, after one in which `unsettled` of `planes` missed the bar
/// for want of rounds, and the others may have lost `worst_db` at most: one more where that were
/// more than a few, one less where they were far better than they need be.
int next_rounds(int rounds, int planes, int unsettled, double worst_db);

}  // namespace eckart
