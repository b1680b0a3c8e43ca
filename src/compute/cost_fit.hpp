#pragma once

#include <span>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart {

/// How long a batch took.
struct Timing {
  SolverKind solver;  ///< subspace or gram
  BatchSize batch;
  double seconds;
};

/// The costs, none below 0, with which the cost model is nearest to the timings: the least sum of
/// squared relative errors. What subspace takes in float64 is not counted. Throws
/// std::invalid_argument where a solver has no timing.
SolverCosts fit_costs(std::span<const Timing> timings);

}  // namespace eckart
