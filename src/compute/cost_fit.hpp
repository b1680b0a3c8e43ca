#pragma once

#include <span>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart {

/// How long a batch took.
struct Timing {
  SolverKind solver;  ///< subspace or gram
  BatchWorkload batch;
  double seconds;
};

/// Whether costs are fitted to it: to what subspace took in float64, at gram's prices, they are
/// not.
bool is_used_in_fit(const Timing& timing);

/// The costs, none below 0, with which the cost model is nearest to the timings: the least sum of
/// squared relative errors. Throws std::invalid_argument where a solver has no timing that counts.
SolverCosts fit_costs(std::span<const Timing> timings);

}  // namespace eckart
