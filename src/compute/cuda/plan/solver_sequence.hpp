#pragma once

#include <cstddef>
#include <vector>

#include "compute/backend.hpp"

namespace eckart::compute::cuda {

/// A solver on the GPU. Subspace iteration in float16 and in float64 are two solvers.
enum class SolverStep { float16_subspace, float64_subspace, gram, gesvd, gesvdj };

/// True if the solver computes planes one by one, so that its time is proportional to their number.
constexpr bool is_sequential(SolverStep step) {
  return step == SolverStep::gesvd || step == SolverStep::gesvdj;
}

constexpr bool is_subspace(SolverStep step) {
  return step == SolverStep::float16_subspace || step == SolverStep::float64_subspace;
}

/// The name of the solver in settings and reports.
constexpr SolverKind solver_kind(SolverStep step) {
  switch (step) {
    case SolverStep::gram:
      return SolverKind::gram;
    case SolverStep::gesvd:
      return SolverKind::gesvd;
    case SolverStep::gesvdj:
      return SolverKind::gesvdj;
    case SolverStep::float16_subspace:
    case SolverStep::float64_subspace:
      break;
  }
  return SolverKind::subspace;
}

/// The solvers in the order in which they are tried. Each one recomputes the planes that the one
/// before left uncertified. If `is_single_solver`, no other solver follows gram. Throws
/// std::logic_error for SolverKind::automatic, which must be resolved first.
std::vector<SolverStep> solver_sequence(SolverKind solver, bool is_single_solver);

/// The index in the first sequence of the solver that computes whole batches.
std::size_t first_solver(const BatchWorkload& full_batch, SolverKind solver);

}  // namespace eckart::compute::cuda
