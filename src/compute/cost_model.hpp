#pragma once

#include <array>
#include <string>

#include "compute/backend.hpp"
#include "core/solver_costs.hpp"

namespace eckart {

/// What the solver has to do for this batch, in the order of kCostTerms; for planes of m x n at
/// rank k, subspace iteration with l columns:
///             batch  sample  flop                                       vector  cube
///   subspace    1     m n    2 m n l + 2 (m + n) l^2                     l^2    l^3
///   gram        1     m n    m n^2 + 4 m n k + 2 n^2 b + 4 n b^2         n b    n^3
///   in float64  1     m n    6 m n l + 4.5 (m + n) l^2                   l^2    l^3
/// all but the first times the number of planes. How often the iteration multiplies and
/// orthonormalizes depends on the images, so that is part of the price; in float64 it takes gram's
/// prices, since it does as gram does, products and an eigenproblem. gram's flops are the Gram
/// matrix, projecting and reconstructing, and of the eigenvectors the transformation back and the
/// orthogonalization; b is k, or max_bisection_vectors(n) where that is less. `solver` is subspace
/// or gram.
std::array<double, kCostTerms.size()> operation_counts(SolverKind solver,
                                                       const BatchWorkload& batch);

/// Bisection finds eigenvectors of a symmetric n x n matrix one by one, divide and conquer all of
/// them: from about so many on in less time.
constexpr int max_bisection_vectors(int n) { return n / 6; }

/// How long a batch takes, about.
double estimate_seconds(SolverKind solver, const BatchWorkload& batch, const SolverCosts& costs);

/// What was measured with this backend on this device; or else `built_in`, without a date.
MeasuredCosts select_costs(const Calibration& calibration, const std::string& backend,
                           const std::string& device, const SolverCosts& built_in);

/// A line for people: where these costs are from.
std::string describe_source(const MeasuredCosts& costs);

/// 1.9 us, 16 ms, 1.2 s
std::string format_duration(double seconds);

}  // namespace eckart
