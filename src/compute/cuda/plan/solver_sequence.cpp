#include "compute/cuda/plan/solver_sequence.hpp"

#include <stdexcept>

namespace eckart::compute::cuda {

std::vector<SolverStep> solver_sequence(SolverKind solver, bool is_single_solver) {
  using enum SolverStep;
  switch (solver) {
    case SolverKind::subspace:
      // float16_subspace certifies most planes; with too many columns for float16, float64_subspace
      // does. float64_subspace also recomputes planes with errors at rounding level and planes that
      // need more iterations. gram recomputes planes that need more than l columns. Almost all
      // planes that gram leaves uncertified have exactly low rank, where the precision of A'A is
      // not sufficient.
      return {float16_subspace, float64_subspace, gram, gesvd};
    case SolverKind::gram:
      return is_single_solver ? std::vector{gram} : std::vector{gram, gesvd};
    case SolverKind::gesvd:
      return {gesvd};
    case SolverKind::gesvdj:
      return {gesvdj};
    case SolverKind::automatic:
      break;
  }
  throw std::logic_error("SolverKind::automatic must be resolved before solver_sequence()");
}

std::size_t first_solver(const BatchWorkload& full_batch, SolverKind solver) {
  return solver == SolverKind::subspace && full_batch.is_float64 ? 1 : 0;
}

}  // namespace eckart::compute::cuda
