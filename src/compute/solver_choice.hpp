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

}  // namespace eckart
