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

bool subspace_fits(PaddedShape shape, int rank) {
  const int columns = subspace_columns(rank);
  return columns <= shape.cols && columns <= kMostSubspaceColumns && gram_fits(shape);
}

}  // namespace

int subspace_columns(int rank) {
  constexpr int kGranule = 16;  // what the matrix products like
  const int wanted = rank + std::max(28, rank / 2);
  return (wanted + kGranule - 1) / kGranule * kGranule;
}

SolverChoice choose_solver(SolverKind requested, PaddedShape shape, int rank) {
  using enum SolverKind;
  if (requested == subspace && !subspace_fits(shape, rank)) {
    return {gram, "too many columns for subspace"};
  }
  if (requested != automatic) return {requested, "asked for"};
  if (!gram_fits(shape)) return {gesvd, "too many columns for the batched eigensolver"};
  if (subspace_fits(shape, rank) && 3 * subspace_columns(rank) <= shape.cols) {
    return {subspace, "few of the singular vectors are wanted"};
  }
  return {gram, "many of the singular vectors are wanted"};
}

}  // namespace eckart
