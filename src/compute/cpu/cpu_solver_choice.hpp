#pragma once

#include "compute/backend.hpp"

namespace eckart::cpu {

/// The solver for a plane of n columns (its shorter side) of which `rank` singular vectors are
/// wanted. Follows `requested`, but gives gram for a subspace that would be most of the whole.
/// A pure function.
SolverKind choose_solver(SolverKind requested, int n, int rank);

/// Columns that block subspace iteration works with to find `rank` vectors.
int subspace_columns(int rank);

}  // namespace eckart::cpu
