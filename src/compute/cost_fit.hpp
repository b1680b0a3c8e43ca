#pragma once

#include <span>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart::compute {

/// The measured time of a batch.
struct Timing {
  SolverKind solver;  ///< subspace or gram
  BatchWorkload batch;
  double seconds;
};

/// False for subspace iteration in float64: it is estimated with the costs of gram.
bool is_used_in_fit(const Timing& timing);

/// Fits the non-negative costs that minimize the sum of squared relative errors of the cost model
/// over `timings`. Throws std::invalid_argument if a solver has no timing that is used in the fit.
SolverCosts fit_costs(std::span<const Timing> timings);

}  // namespace eckart::compute
