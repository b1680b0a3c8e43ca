#include "compute/cuda/plan/solver_sequence.hpp"

#include <stdexcept>

namespace eckart::cuda {

std::vector<SolverStep> solver_sequence(SolverKind solver, bool is_single_solver) {
  using enum SolverStep;
  switch (solver) {
    case SolverKind::subspace:
      // The first certifies most planes, or the second where there are more columns than float16
      // takes. The second also takes planes whose error is next to nothing and those that need more
      // iterations; the third takes planes for which l columns are too few. Nearly all that gram
      // leaves is of exactly low rank, for which A'A is too coarse.
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

}  // namespace eckart::cuda
