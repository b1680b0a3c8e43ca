#pragma once

#include <vector>

#include "compute/cpu/symmetric_eigen.hpp"

namespace eckart::compute::cpu {

/// A proven bound of the loss of a reconstruction against the optimum, from a subspace that
/// approximates the leading right singular vectors. All of it is computed in float64. Rounding of
/// the iteration that found the subspace does not affect the proof.
///
/// Let Q (n x l) be orthonormal, H = A'A, T = Q'HQ with eigenvalues theta_i, G = HQ - QT, and mu >=
/// ||A (I - QQ')||_2^2. If an eigenvalue lambda_i of H is above mu, it is the i-th eigenvalue of T
/// + G'(lambda_i - M)^-1 G, where M is H restricted to the complement of Q (Schur complement;
/// Haynsworth's inertia additivity, 1968). Since lambda_i >= theta_i for all i, and M <= mu I,
///   sum_{i<=k} lambda_i <= sum_{i<=k} eigenvalue_i(T + G'G / (theta_k - mu))   if theta_k > mu.
/// This bounds the optimal error ||A||_F^2 - sum_{i<=k} lambda_i from below.
///
/// docs/explanation/numerics.md has the complete proof and the assumptions about rounding. mu comes
/// from probe vectors, see compute/norm_bound. Reuses its memory between planes.
class LossBound {
 public:
  /// Prepares the bounds of one plane. `a_t_nm` is A transposed, column-major n x m, with
  /// entries that are exact in float32. The columns of `q_nl` span the subspace and are
  /// approximately orthonormal. `rank` <= l is the largest rank that loss_db() is called with.
  /// Throws ItemError(not_converged), std::bad_alloc.
  void prepare(const std::vector<float>& a_t_nm, const std::vector<float>& q_nl, int m, int n,
               int l, int rank, double squared_norm);

  /// A bound, in dB before rounding, of the loss of a rank-k reconstruction with this squared
  /// error. Infinity if nothing can be proven.
  double loss_db(int k, double residual);
  /// The bound if the subspace were invariant (G = 0). More iterations cannot give a smaller bound.
  double converged_loss_db(int k, double residual);

 private:
  void orthonormalize_basis();
  void project();
  void bound_complement(int rank);
  void deflate(std::vector<double>& block_nr);
  double loss_db(int k, double residual, double share);

  void compute_eigenvalues(std::vector<double>& values);

  int m_ = 0, n_ = 0, l_ = 0;
  double squared_norm_ = 0;
  double product_rounding_ = 0, rounding_ = 0;  // of G; of T and the sum of its eigenvalues
  double complement_ = 0;                       // mu
  std::vector<double> a_t_nm_, q_nl_, b_ml_, w_nl_, t_ll_, g_ll_, matrix_ll_, theta_, values_;
  SymmetricEigenSolver solve_symmetric_;
  std::vector<double> random_nr_, probe_nr_, previous_nr_, next_nr_, image_mr_, coefficients_lr_;
};

}  // namespace eckart::compute::cpu
