#pragma once

#include <cstddef>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::cuda {

/// A solver as the GPU has it: subspace iteration in float16 and in float64 are two.
enum class SolverStep { float16_subspace, float64_subspace, gram, gesvd, gesvdj };

/// Whether a solver takes planes one by one, so that several take as long as each of them alone.
constexpr bool is_sequential(SolverStep step) {
  return step == SolverStep::gesvd || step == SolverStep::gesvdj;
}

/// The solvers to try one after the other, each on the planes that the one before it left
/// uncertified. `is_single_solver`: a solver that needs no other is not followed by one. Throws
/// std::logic_error for SolverKind::automatic, which has to be resolved before.
std::vector<SolverStep> solver_sequence(SolverKind solver, bool is_single_solver);

/// The one of them that whole batches go to.
std::size_t first_solver(const BatchWorkload& full_batch, SolverKind solver);

}  // namespace eckart::cuda
