#pragma once

#include <climits>
#include <map>
#include <mutex>
#include <vector>

#include "compute/backend.hpp"
#include "core/round_up.hpp"
#include "core/solver_costs.hpp"

namespace eckart::compute {

/// Chooses the solver for this batch and explains the choice. The result depends only on the
/// arguments.
///
/// A `requested` solver is used if it supports the batch. automatic is subspace or gram, whichever
/// the cost model estimates to be faster, including the planes that subspace leaves to gram. gram
/// replaces subspace if the subspace would have more than three quarters of the columns. gram
/// supports at most `max_gram_columns` columns; above that the choice is gesvd.
SolverChoice choose_solver(SolverKind requested, const BatchWorkload& batch, int max_gram_columns,
                           const SolverCosts& costs);

/// Chooses once for each workload, and keeps the choices for the largest shapes. Thread-safe.
class SolverChooser {
 public:
  SolverChooser(SolverKind requested, const SolverCosts& costs)
      : requested_(requested), costs_(costs) {}
  SolverKind choose(const BatchWorkload& batch, int max_gram_columns = INT_MAX);
  /// The same without a record, for a rank that may not be the final one.
  SolverKind estimate(const BatchWorkload& batch, int max_gram_columns = INT_MAX) const;
  /// Records the solver that computed a plane whose rank depends on its singular values.
  void record(const BatchWorkload& batch, SolverKind used);
  /// The choices and records, those of the largest shapes and ranks first, at most 100.
  std::vector<SolverChoice> solver_choices() const;

 private:
  const SolverKind requested_;
  const SolverCosts costs_;
  mutable std::mutex mutex_;
  std::map<BatchWorkload, SolverChoice> choices_, records_;
};

/// The number of columns of subspace iteration is a multiple of this. Matrix products are then
/// fastest: it is the side of a tile of tensor cores, and the number of floats in the longest
/// vector register of a CPU.
constexpr int kColumnMultiple = 16;

}  // namespace eckart::compute
