#include "compute/solver_choice.hpp"

#include <cstdint>
#include <limits>

namespace eckart {

SolverChoice choose_solver(SolverKind requested, PaddedShape shape) {
  if (requested != SolverKind::automatic) return {requested, "asked for"};
  // The batched eigensolver indexes the batch with 32 bits.
  if (std::int64_t(shape.cols) * shape.cols > std::numeric_limits<std::int32_t>::max()) {
    return {SolverKind::gesvd, "the Gram matrix of " + std::to_string(shape.cols) +
                                   " columns is more than the batched eigensolver takes"};
  }
  return {SolverKind::gram, "a whole batch at once, and exact in float64"};
}

}  // namespace eckart
