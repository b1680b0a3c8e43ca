#pragma once

#include <vector>

namespace eckart::cpu {

/// A proven bound of what a reconstruction has lost against the optimum, from a subspace that holds
/// the leading right singular vectors. All of it is in float64, apart from the iteration that found
/// the subspace, so that no rounding of the latter matters.
///
/// Let Q (n x l) be orthonormal, H = A'A, T = Q'HQ with eigenvalues theta_i, G = HQ - QT, and
/// mu >= ||A (I - QQ')||_2^2. An eigenvalue lambda_i of H above mu is the i-th eigenvalue of
/// T + G'(lambda_i - M)^-1 G, where M is H on the complement of Q (the Schur complement and
/// Haynsworth's inertia). Since lambda_i >= theta_i for all i, and M <= mu,
///   sum_{i<=k} lambda_i <= sum_{i<=k} eigenvalue_i(T + G'G / (theta_k - mu))   if theta_k > mu,
/// and the optimal error ||A||_F^2 - sum_{i<=k} lambda_i is at least what that leaves.
///
/// The complete proof, and what is assumed of rounding: docs/explanation/numerics.md. mu comes from
/// random vectors, see compute/norm_bound. Keeps its memory between planes.
class LossBound {
 public:
  /// `a_t_nm` is A transposed, column-major n x m, of integers; `q_nl` spans the subspace, with
  /// about orthonormal columns; `rank` <= l is the largest for which bounds will be wanted. Throws
  /// ItemError(not_converged), std::bad_alloc.
  void prepare(const std::vector<float>& a_t_nm, const std::vector<float>& q_nl, int m, int n,
               int l, int rank, double squared_norm);

  /// The PSNR in dB, before rounding, by which the optimum of rank k can be better than a
  /// reconstruction with this squared error; infinity if nothing is proven.
  double loss_db(int k, double residual);
  /// The same, had the subspace converged: more iterations cannot get below it.
  double converged_loss_db(int k, double residual);

 private:
  void orthonormalize_basis();
  void project();
  void bound_complement(int rank);
  void deflate(std::vector<double>& block_nr);
  double loss_db(int k, double residual, double share);

  int m_ = 0, n_ = 0, l_ = 0;
  double squared_norm_ = 0, rounding_ = 0;
  double complement_ = 0;  // mu
  std::vector<double> a_t_nm_, q_nl_, b_ml_, w_nl_, t_ll_, g_ll_, matrix_ll_, theta_, values_;
  std::vector<double> random_nr_, probe_nr_, previous_nr_, next_nr_, image_mr_, coefficients_lr_;
};

}  // namespace eckart::cpu
