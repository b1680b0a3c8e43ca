#pragma once

#include <span>
#include <vector>

#include "compute/cpu/shifted_cholesky_qr.hpp"
#include "compute/cpu/symmetric_eigen.hpp"

namespace eckart::compute::cpu {

/// The number of columns l of the iteration for rank k: k + max(20, k / 4), rounded up to a
/// multiple of 16.
int subspace_columns(int rank);

/// Computes the leading left singular vectors of an m x n matrix A, m >= n, by block subspace
/// iteration in float32. It multiplies by A and A', and never forms A'A. Only the small
/// eigenproblem at the end is in float64.
///
/// The first iteration is Z = orth(A Q), Q = orth(A'Z). Then a Chebyshev filter is applied: a
/// polynomial of A'A that damps the singular values below the cutoff. For the same number of
/// products it amplifies those above the cutoff far more than a power of A'A does (Zhou, Saad,
/// Tiago, Chelikowsky: Self-consistent-field calculations using Chebyshev-filtered subspace
/// iteration, 2006).
///
/// Reuses its memory between planes. The member functions throw ItemError(not_converged).
class SubspaceIteration {
 public:
  /// A is approximately U_r V_r' for every rank r <= k, with the first r columns of U and V.
  struct LowRankFactors {
    std::vector<float> u_mk;   ///< column-major m x k, orthonormal
    std::vector<float> v_nk;   ///< column-major n x k, A'U
    std::vector<double> ritz;  ///< l values, descending: squared singular values of A Q
    std::vector<double> rayleigh_quotients;  ///< ||A'u_i||^2, k values
  };

  /// Runs the first iteration. `a_t_nm` is A transposed, column-major n x m. It must stay alive
  /// until the last call for this plane. Requires k <= l <= n.
  void start(const std::vector<float>& a_t_nm, int m, int n, int k, int l);

  /// After start(): l squared singular values of Z'A, descending. Each is at most sigma_i^2. Also
  /// improves the next filter. Costs a small eigenproblem.
  const std::vector<double>& estimate_values();
  /// Changes k, between 1 and l, for the steps that follow.
  void set_rank(int k) { k_ = k; }

  /// Filters with the Chebyshev polynomial of the smallest degree that amplifies the k-th singular
  /// value by `amplification` relative to the damped interval. Uses the current estimates of the
  /// singular values. May be called repeatedly.
  void apply_filter(double amplification);

  const LowRankFactors& compute_factors();

  /// After compute_factors(): a basis of the subspace, column-major n x l, orthonormal to float32
  /// precision.
  const std::vector<float>& basis() const { return q_nl_; }
  int columns() const { return l_; }

 private:
  void multiply_a();
  void multiply_a_t(float alpha, float beta);
  double cutoff() const;
  int degree_for(double amplification) const;
  void project();
  void compute_gram_matrix(const std::vector<float>& y, int rows);
  void compute_ritz_pairs();

  const float* a_t_nm_ = nullptr;
  int m_ = 0, n_ = 0, k_ = 0, l_ = 0;
  int initial_n_ = 0;  // rows of initial_nl_, which has the columns of the largest start
  ShiftedCholeskyQr orthonormalize_;
  // previous_nl_: A'Z after start(), T_{i-1} in the filter.
  std::vector<float> initial_nl_, q_nl_, y_nl_, previous_nl_, z_ml_, weights_lk_;
  std::vector<double> values_, b_ml_, c_ll_;
  SymmetricEigenSolver solve_symmetric_;
  LowRankFactors factors_;
};

}  // namespace eckart::compute::cpu
