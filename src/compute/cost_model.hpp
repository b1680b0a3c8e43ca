#pragma once

#include <array>
#include <string>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart::compute {

/// The operation counts of this batch in the order of kCostTerms. For planes of m x n, rank k and
/// subspace iteration with l columns:
///             batch  sample  flop                                       vector  cube
///   subspace    1     m n    2 m n l + 2 (m + n) l^2                     l^2    l^3
///   gram        1     m n    m n^2 + 4 m n k + 2 n^2 b + 4 n b^2         n b    n^3
///   in float64  1     m n    6 m n l + 4.5 (m + n) l^2                   l^2    l^3
/// All counts but `batch` are multiplied by the number of planes. The number of iterations depends
/// on the images, so it is part of the cost coefficients. "in float64" is subspace iteration in
/// float64. It uses the coefficients of gram, which also consists of products and an eigenproblem.
///
/// The flops of gram: m n^2 for the Gram matrix, 4 m n k for projection and reconstruction, and for
/// b = min(k, max_bisection_vectors(n)) eigenvectors 2 n^2 b for the back transformation and 4 n
/// b^2 for the orthogonalization.
///
/// `solver` is subspace or gram; throws std::logic_error for others.
std::array<double, kCostTerms.size()> operation_counts(SolverKind solver,
                                                       const BatchWorkload& batch);

/// The largest number of eigenvectors of a symmetric n x n matrix that bisection finds faster than
/// divide and conquer. Bisection finds them one by one, divide and conquer finds all.
constexpr int max_bisection_vectors(int n) { return n / 6; }

/// The estimated time of a batch. `solver` as in operation_counts().
double estimate_seconds(SolverKind solver, const BatchWorkload& batch, const SolverCosts& costs);

/// Returns the costs measured with this backend on this device. If there are none, returns
/// `built_in` without a date.
MeasuredCosts select_costs(const Calibration& calibration, CostBackend backend,
                           const std::string& device, const SolverCosts& built_in);

/// One line for people: the origin of the costs.
std::string describe_source(const MeasuredCosts& costs);

}  // namespace eckart::compute
