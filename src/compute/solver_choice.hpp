#pragma once

#include <string>

#include "compute/backend.hpp"

namespace eckart {

/// Which solver takes a batch, and why, in words for the log.
struct SolverChoice {
  SolverKind solver = SolverKind::gram;
  std::string reason;
};

/// The solver for planes padded to `shape` of which `rank` singular vectors are wanted. Follows
/// `requested` where that solver can do it. A pure function: no device, no clock.
SolverChoice choose_solver(SolverKind requested, PaddedShape shape, int rank);

/// More columns than this the subspace solver does not take: its kernel keeps their Gram matrix in
/// shared memory.
constexpr int kMostSubspaceColumns = 160;

/// Columns that block subspace iteration works with to find `rank` vectors.
int subspace_columns(int rank);

}  // namespace eckart
