#include "compute/solver_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace eckart {
namespace {

/// The batched eigensolver indexes the batch with 32 bits.
bool gram_fits(PaddedShape shape) {
  return std::int64_t(shape.cols) * shape.cols <= std::numeric_limits<std::int32_t>::max();
}

bool subspace_fits(PaddedShape shape, int rank, int most_columns) {
  const int columns = subspace_columns(rank);
  return columns <= shape.cols && columns <= most_columns && gram_fits(shape);
}

}  // namespace

int subspace_columns(int rank) {
  constexpr int kGranule = 16;  // what the matrix products like
  const int wanted = rank + std::max(28, 2 * rank / 5);
  return (wanted + kGranule - 1) / kGranule * kGranule;
}

SolverKind choose_solver(SolverKind requested, PaddedShape shape, int rank,
                         int most_subspace_columns) {
  using enum SolverKind;
  const bool fits = subspace_fits(shape, rank, most_subspace_columns);
  if (requested == subspace) return fits ? subspace : gram;
  if (requested != automatic) return requested;
  if (!gram_fits(shape)) return gesvd;
  // The iteration pays unless its columns are nearly all that there are.
  return fits && 4 * subspace_columns(rank) <= 3 * shape.cols ? subspace : gram;
}

}  // namespace eckart
