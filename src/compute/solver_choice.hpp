#pragma once

#include <string>

#include "compute/backend.hpp"

namespace eckart {

/// Which solver takes a batch, and why, in words for the log.
struct SolverChoice {
  SolverKind solver = SolverKind::gram;
  std::string reason;
};

/// The solver for planes padded to `shape`. A pure function: no device, no clock.
SolverChoice choose_solver(SolverKind requested, PaddedShape shape);

}  // namespace eckart
