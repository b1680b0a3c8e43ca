#pragma once

#include <span>

namespace eckart {

/// What block subspace iteration knows of one plane A (m x n, m >= n) when it ends with l
/// orthonormal columns Q: B = A Q has singular values sqrt(ritz) and left singular vectors u_i, and
/// the reconstruction of rank k is U_k U_k' A.
struct RitzValues {
  std::span<const double> ritz;  ///< l values, descending
  std::span<const double>
      rayleigh_quotients;  ///< ||A' u_i||^2, at least k of them, in the same order
  int n = 0;               ///< columns of A
};

/// The share of a squared error that adding it up in float32, block by block, can hide.
constexpr double kSummationError = 1e-5;

/// What the factors were computed in.
enum class Precision {
  float16,       ///< iterated in float16, factors in two of them
  float32,       ///< on A
  float64_gram,  ///< eigenvectors of A'A, or of (AQ)'(AQ), formed in float64
  float64        ///< singular vectors of A in float64, by a backward stable method
};

/// An estimate, with a margin, of the PSNR in dB that a reconstruction of rank k has lost against
/// Eckart and Young's optimum; infinity where nothing can be said, 0 where the error is
/// negligible() and so every pixel written is the input's. `residual` is the squared error measured
/// before rounding, `squared_norm` is ||A||_F^2.
///
/// By Pythagoras A' u_i leaves the space of Q by r_i^2 = ||A' u_i||^2 - theta_i, so the residual of
/// the Ritz pair is sqrt(theta_i) r_i and, to second order, the k Ritz values are below the k
/// largest eigenvalues of A'A by at most sum_i theta_i r_i^2 / (theta_i - mu), where mu bounds
/// what is outside the space (Mathias, Quadratic residual bounds for the Hermitian eigenvalue
/// problem, 1998). The half step to A' U_k gains sum_i r_i^2 of that. For mu stands the Ritz value
/// half-way between the k-th and the last, or twice the mean of what is outside (what of the error
/// the space does not hold) where that is more: where values are nearly alike, those outside may be
/// larger than any that is left inside. Neither is a bound, so the sum is doubled. Where the mean
/// alone is more than the value half-way, rounding has left the space without the directions that
/// mu is read from, and mu is all that is outside. What rounding can do is added as a share of the
/// norm. A pair proves nothing whose ||A' u_i||^2 is more than twice theta_i (u_i is then no
/// direction that the space holds, but rounding of a stronger one) or less (Q is then not
/// orthonormal). docs/explanation/numerics.md has the rate and size of its misses.
double loss_estimate_db(const RitzValues& values, int k, double residual, double squared_norm,
                        Precision precision);

/// What rounding alone can have lost: all that there is to say of eigenvectors of A'A (n x n) found
/// by a full decomposition, and the least that there is to say of others.
double loss_estimate_db(int k, int n, double residual, double squared_norm, Precision precision);

}  // namespace eckart
