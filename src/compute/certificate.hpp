#pragma once

#include <span>

namespace eckart::compute {

/// The result of block subspace iteration on a plane A (m x n, m >= n) with l orthonormal columns
/// Q. B = A Q has singular values sqrt(theta_i) and left singular vectors u_i. The rank-k
/// reconstruction is U_k U_k' A.
struct RitzValues {
  std::span<const double> ritz;  ///< theta_i: l values, descending
  /// ||A'u_i||^2: at least k values, in the same order
  std::span<const double> rayleigh_quotients;
  int n = 0;  ///< columns of A
};

/// The largest relative error of a sum of squared errors in float32, added up block by block.
constexpr double kSummationError = 1e-5;

/// The precision in which the factors were computed.
enum class Precision {
  float16,       ///< iteration in float16, factors as hi + lo float16
  float32,       ///< iteration and factors in float32
  float64_gram,  ///< eigenvectors of A'A, or of (AQ)'(AQ), formed in float64
  float64        ///< singular vectors of A in float64 by a backward stable method
};

/// How much PSNR in dB a reconstruction has lost. Infinity if no estimate is possible.
struct LossEstimate {
  double db = 0;
  double rounding_db = 0;  ///< the part caused by rounding, which more iterations do not reduce
};

/// Estimates, with a safety margin, how much a rank-k reconstruction has lost against the optimum
/// (Eckart and Young, 1936). `residual` is ||A - A_k||_F^2 before rounding to pixels,
/// `squared_norm` is ||A||_F^2. Returns 0 if is_negligible(residual), because every written pixel
/// then equals the input's.
///
///   r_i^2 = ||A'u_i||^2 - theta_i
///   gap   = 2 sum_{i<=k} r_i^2 mu / (theta_i - mu) + rounding
///   loss  = -10 log10(1 - gap / residual)
///
/// By Pythagoras r_i is the part of A'u_i outside span(Q), so the residual norm of Ritz pair i is
/// sqrt(theta_i) r_i. To second order, the k Ritz values are below the k largest eigenvalues of A'A
/// by at most sum_i theta_i r_i^2 / (theta_i - mu), if mu >= ||A (I - QQ')||_2^2 (R. Mathias,
/// Quadratic residual bounds for the Hermitian eigenvalue problem, 1998). The half step to A'U_k
/// gains sum_i r_i^2.
///
/// mu is read from the plane: the Ritz value in the middle between the k-th and the last, or twice
/// the mean outside energy (residual - sum_{i>k} theta_i) / (n - l) if that is larger. The second
/// term is for nearly equal singular values, of which larger ones may be outside. If the mean
/// exceeds the middle value, rounding has removed the directions that mu is read from, and mu is
/// the whole outside energy. None of these is a bound, so the sum is doubled.
///
/// If theta_i exceeds ||A'u_i||^2 by more than rounding, Q is not orthonormal: the difference
/// counts as rounding. This happens in float16 where sigma_1 exceeds the others by far.
///
/// The estimate is infinite if, for an i <= k, theta_i <= mu. Its rounding is also infinite if
/// ||A'u_i||^2 > 2 theta_i (u_i is the rounding error of a stronger direction) or
/// ||A'u_i||^2 < 0.99 theta_i (Q is not orthonormal).
/// docs/explanation/numerics.md lists how often and by how much the estimate is too small.
LossEstimate estimate_loss(const RitzValues& values, int k, double residual, double squared_norm,
                           Precision precision);

/// The backward error of LAPACK and cuSOLVER, in units of n epsilon ||A||: computed eigenvalues are
/// those of a matrix within kBackwardError n epsilon ||A|| of the given one, and computed singular
/// values likewise, with m + n instead of n. LAPACK states no constant. Its own tests accept 50
/// (dsep.in, svd.in); the largest that tests/numerics found is 0.2.
constexpr double kBackwardError = 50;

/// A bound, in dB before rounding to pixels, of the loss of a rank-k reconstruction against the
/// optimum, from a complete decomposition of a matrix A (m x n, m >= n) of float32 numbers in
/// float64. If `is_integer`, A'A and ||A||^2 are exact; otherwise their relative error is at most
/// (m + n) epsilon. The only other assumption is kBackwardError; it does not matter how the
/// reconstruction was computed. `sigma_squared` is descending: at least k values of A'A for
/// float64_gram, all n values of A for float64. `n` is the order of the matrix that was decomposed.
/// Infinity if nothing is proven.
double full_decomposition_loss_bound_db(std::span<const double> sigma_squared, int k, int m, int n,
                                        double residual, double squared_norm, Precision precision,
                                        bool is_integer = true);

/// The loss that rounding can cause in a complete decomposition.
double loss_estimate_db(int k, int n, double residual, double squared_norm, Precision precision);

}  // namespace eckart::compute
