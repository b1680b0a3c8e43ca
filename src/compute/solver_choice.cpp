#include "compute/solver_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/quality.hpp"

namespace eckart {
namespace {

/// The batched eigensolver indexes the batch with 32 bits, and no batch is less than an image.
bool gram_fits(PaddedShape shape) {
  constexpr int kMostChannels = 3;
  return std::int64_t(shape.cols) * shape.cols * kMostChannels <=
         std::numeric_limits<std::int32_t>::max();
}

bool subspace_fits(PaddedShape shape, int rank, int most_columns) {
  const int columns = subspace_columns(rank);
  return columns <= shape.cols && columns <= most_columns && gram_fits(shape);
}

}  // namespace

int subspace_columns(int rank) {
  constexpr int kGranule = 16;  // what the matrix products like
  const int wanted = rank + 28;
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

int next_rounds(int rounds, int planes, int unsettled, double worst_db) {
  constexpr int kFew = 100;          // one in so many is done again rather
  constexpr double kRoundDb = 50.0;  // a round less loses less than so many times as much
  if (kFew * unsettled > planes) return std::min(rounds + 1, kMostRounds);
  if (unsettled == 0 && kRoundDb * worst_db < kMostLossDb)
    return std::max(rounds - 1, kFewestRounds);
  return rounds;
}

}  // namespace eckart
