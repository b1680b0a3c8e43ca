#pragma once

#include <span>
#include <vector>

#include "compute/cpu/shifted_cholesky_qr.hpp"

namespace eckart::cpu {

/// Columns that the iteration works with to find `rank` vectors.
int subspace_columns(int rank);

/// The leading left singular vectors of an m x n matrix A, m >= n, by block subspace iteration in
/// float32 on A, never on A'A; the small eigenproblem at the end is in float64.
///
/// After a first round of A and A' comes a Chebyshev filter: its polynomial in A'A damps what is
/// below the last of the singular values wanted and, for the same products with A, lifts what is
/// above it far more than a power does. (Zhou, Saad, Tiago, Chelikowsky: Self-consistent-field
/// calculations using Chebyshev-filtered subspace iteration, 2006)
///
/// Keeps its memory between planes. The members throw ItemError(not_converged).
class SubspaceIteration {
 public:
  /// What the space holds: A is about U_k V_k' for every rank up to k.
  struct LowRankFactors {
    std::vector<float> u_mk;   ///< column-major m x k, orthonormal
    std::vector<float> v_nk;   ///< column-major n x k, A'U
    std::vector<double> ritz;  ///< l values, descending: squared singular values of A Q
    std::vector<double> rayleigh_quotients;  ///< ||A'u_i||^2, k values
  };

  /// Does the first round. `a_t_nm` is A transposed, column-major n x m, and must outlive what is
  /// done with it; k <= l <= n.
  void start(const std::vector<float>& a_t_nm, int m, int n, int k, int l);

  /// Filters by the polynomial of least degree that, by the singular values known so far, lifts
  /// the last of the k by this against what it damps; may be called again.
  void apply_filter(double amplification);

  const LowRankFactors& compute_factors();

  /// After compute_factors(): a basis of the subspace, column-major n x l, orthonormal to float32's
  /// precision.
  const std::vector<float>& basis() const { return q_nl_; }
  int columns() const { return l_; }

 private:
  void multiply_a();
  void multiply_a_t(float alpha, float beta);
  double cutoff() const;
  int degree_for(double amplification) const;
  void project();
  void compute_ritz_pairs();

  const float* a_t_nm_ = nullptr;
  int m_ = 0, n_ = 0, k_ = 0, l_ = 0;
  ShiftedCholeskyQr orthonormalize_;
  std::vector<float> initial_nl_, q_nl_, y_nl_, previous_nl_, z_ml_, weights_lk_;
  std::vector<double> values_, b_ml_, c_ll_;
  LowRankFactors factors_;
};

}  // namespace eckart::cpu
