#include "compute/cpu/subspace_iteration.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <utility>

#include "compute/cpu/lapack_info.hpp"
#include "compute/cpu/matrix_size.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::compute::cpu {
namespace {

// Columns of the iteration more than the rank: at least kMinOversampling, and the rank divided by
// kOversamplingDivisor.
constexpr int kMinOversampling = 20;
constexpr int kOversamplingDivisor = 4;
constexpr unsigned kStartSeed = 1936;
// The position of the cutoff in the descending Ritz values, in percent of their number.
constexpr int kCutoffPercent = 85;
// A Ritz value below this share of the largest is rounding.
constexpr double kMinRelativeRitz = 1e-14;

/// The start block, the same for every plane of n columns: cosines plus random signs. Cosines are
/// close to the leading singular vectors of smooth images. Random signs make sure that no direction
/// is missing. A block of fewer columns is the beginning of one of more.
void fill_initial_block(std::vector<float>& q_nl, int n, int l) {
  std::mt19937 random(kStartSeed);
  std::vector<float> cosine(4 * std::size_t(n));
  for (std::size_t i = 0; i < cosine.size(); ++i) {
    cosine[i] = float(std::numbers::sqrt2 * std::cos(std::numbers::pi * double(i) / (2.0 * n)));
  }
  for (int col = 0; col < l; ++col) {
    for (int row = 0; row < n; ++row) {
      const std::size_t angle = std::size_t(2 * row + 1) * std::size_t(col) % cosine.size();
      q_nl[size(n, col) + std::size_t(row)] = cosine[angle] + ((random() & 1U) != 0 ? 1.F : -1.F);
    }
  }
}

}  // namespace

int subspace_columns(int rank) {
  const int min_columns = rank + std::max(kMinOversampling, rank / kOversamplingDivisor);
  return round_up(min_columns, kColumnMultiple);
}

void SubspaceIteration::start(const std::vector<float>& a_t_nm, int m, int n, int k, int l) {
  a_t_nm_ = a_t_nm.data();
  for (auto* block : {&q_nl_, &y_nl_, &previous_nl_}) block->resize(size(n, l));
  z_ml_.resize(size(m, l));
  if (n != initial_n_ || initial_nl_.size() < size(n, l)) {
    initial_n_ = 0;  // if the allocation fails, the next plane must not use an incomplete block
    initial_nl_.resize(size(n, l));
    fill_initial_block(initial_nl_, n, l);
    initial_n_ = n;
  }
  m_ = m, n_ = n, k_ = k, l_ = l;
  std::copy_n(initial_nl_.begin(), size(n, l), q_nl_.begin());
  multiply_a();
  // Without this step the condition number of A'A would be too large for one Cholesky.
  orthonormalize_(z_ml_, m, l);
  multiply_a_t(1, 0);
  previous_nl_ = y_nl_;
  orthonormalize_(y_nl_, n, l);
  std::swap(q_nl_, y_nl_);
  const std::vector<float>& estimates = orthonormalize_.squared_diagonal();
  values_.assign(estimates.begin(), estimates.end());
  std::sort(values_.begin(), values_.end(), std::greater<>());
}

/// The columns of previous_nl_ are A'Z, see start().
const std::vector<double>& SubspaceIteration::estimate_values() {
  compute_gram_matrix(previous_nl_, n_);
  solve_symmetric_(SymmetricEigenSolver::Job::values, l_, c_ll_, values_);
  std::reverse(values_.begin(), values_.end());
  for (double& value : values_) value = std::max(0.0, value);
  return values_;
}

/// The lower triangle of C = Y'Y, in float64 because the condition number of the product is
/// squared.
void SubspaceIteration::compute_gram_matrix(const std::vector<float>& y, int rows) {
  b_ml_.assign(y.begin(), y.end());
  c_ll_.resize(size(l_, l_));
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, l_, rows, 1, b_ml_.data(), rows, 0,
              c_ll_.data(), l_);
}

/// Z = A Q.
void SubspaceIteration::multiply_a() {
  cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, m_, l_, n_, 1, a_t_nm_, n_, q_nl_.data(), n_,
              0, z_ml_.data(), m_);
}

/// Y = alpha A'Z + beta Y.
void SubspaceIteration::multiply_a_t(float alpha, float beta) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n_, l_, m_, alpha, a_t_nm_, n_,
              z_ml_.data(), m_, beta, y_nl_.data(), n_);
}

/// The upper end of the interval that the filter damps. It is a little above the smallest Ritz
/// value, because the last columns have converged least and their Ritz values are too small.
double SubspaceIteration::cutoff() const {
  const double cutoff_value = values_[size(l_, kCutoffPercent) / 100];
  constexpr double kMinCutoff = 1e-20;  // for the zero matrix; 1 / cutoff must be a finite float32
  return std::max({cutoff_value, kMinRelativeRitz * values_.front(), kMinCutoff});
}

/// The smallest degree d with T_d(x) >= amplification, at most kMaxDegree. x = 2 theta_k / cutoff -
/// 1 maps [0, cutoff] to [-1, 1], where |T_d| <= 1.
int SubspaceIteration::degree_for(double amplification) const {
  constexpr int kMaxDegree = 8;
  const double x = 2 * values_[std::size_t(k_) - 1] / cutoff() - 1;
  int degree = 1;
  while (degree < kMaxDegree && std::cosh(degree * std::acosh(std::max(1.0, x))) < amplification)
    ++degree;
  return degree;
}

/// Computes Q = T_d(X) Q with X = A'A / c - I, c = cutoff / 2: T_0 = Q, T_1 = X Q, T_{i+1} = 2 X
/// T_i - T_{i-1}. The recurrence is linear, so T_i and T_{i-1} may both be multiplied from the
/// right by the same R^-1.
void SubspaceIteration::apply_filter(double amplification) {
  const int degree = degree_for(amplification);
  const double c = cutoff() / 2;
  for (int i = 1; i <= degree; ++i) {
    const float twice = i == 1 ? 1 : 2;
    multiply_a();
    for (std::size_t j = 0; j < y_nl_.size(); ++j) {
      y_nl_[j] = -twice * q_nl_[j] - (i == 1 ? 0 : previous_nl_[j]);
    }
    multiply_a_t(float(twice / c), 1);
    orthonormalize_(y_nl_, n_, l_, i < degree ? &q_nl_ : nullptr);
    std::swap(previous_nl_, q_nl_);
    std::swap(q_nl_, y_nl_);
  }
}

const SubspaceIteration::LowRankFactors& SubspaceIteration::compute_factors() {
  orthonormalize_(q_nl_, n_, l_);  // removes what one Cholesky QR leaves
  multiply_a();
  compute_ritz_pairs();
  weights_lk_.resize(size(l_, k_));
  for (int i = 0; i < k_; ++i) {
    const double theta = factors_.ritz[std::size_t(i)];
    const double weight =
        theta > kMinRelativeRitz * factors_.ritz.front() ? 1 / std::sqrt(theta) : 0;
    const double* vector = &c_ll_[size(l_, l_ - 1 - i)];
    std::transform(vector, vector + l_, &weights_lk_[size(l_, i)],
                   [weight](double entry) { return float(weight * entry); });
  }
  factors_.u_mk.resize(size(m_, k_));
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m_, k_, l_, 1, z_ml_.data(), m_,
              weights_lk_.data(), l_, 0, factors_.u_mk.data(), m_);
  project();
  factors_.rayleigh_quotients.resize(std::size_t(k_));
  for (int i = 0; i < k_; ++i) {
    const float* column = &factors_.v_nk[size(n_, i)];
    factors_.rayleigh_quotients[std::size_t(i)] = cblas_dsdot(n_, column, 1, column, 1);
  }
  return factors_;
}

/// V = A'U, summed in chunks of rows. Rounding errors of equal terms accumulate in float32; smaller
/// partial sums lose less.
void SubspaceIteration::project() {
  constexpr int kRowsPerChunk = 256;
  factors_.v_nk.resize(size(n_, k_));
  for (int row = 0; row < m_; row += kRowsPerChunk) {
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n_, k_,
                std::min(kRowsPerChunk, m_ - row), 1, a_t_nm_ + size(n_, row), n_,
                &factors_.u_mk[std::size_t(row)], m_, row == 0 ? 0.F : 1.F, factors_.v_nk.data(),
                n_);
  }
}

/// Eigenvalues and eigenvectors of (AQ)'(AQ), in ascending order in c_ll_.
void SubspaceIteration::compute_ritz_pairs() {
  compute_gram_matrix(z_ml_, m_);
  solve_symmetric_(SymmetricEigenSolver::Job::values_and_vectors, l_, c_ll_, values_);
  std::reverse(values_.begin(), values_.end());
  for (double& value : values_) value = std::max(0.0, value);
  factors_.ritz = values_;
}

}  // namespace eckart::compute::cpu
