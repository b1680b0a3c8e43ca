#include "compute/cpu/loss_bound.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "compute/certificate.hpp"
#include "compute/cpu/lapack_info.hpp"
#include "compute/cpu/matrix_size.hpp"
#include "compute/norm_bound.hpp"

namespace eckart::compute::cpu {
namespace {

// Bounds of float64 rounding errors, as shares of ||A||_F^2 (docs/explanation/numerics.md). In
// units of (m + n) sqrt(l) epsilon: the products A Q, B'B, A'B and Q T. A Q alone can lose n
// sqrt(l), and B'B can lose m sqrt(k) / 2.
constexpr double kProductRounding = 4;
// In units of (n l + l^2) epsilon: ||Q'Q - I|| after a Cholesky QR (Yamamoto et al., 2015).
constexpr double kOrthogonalityRounding = 3;
// G may be wrong by E. (G + E)'(G + E) <= (1 + s) G'G + (1 + 1/s) ||E||^2 I for every s > 0.
constexpr double kResidualSplit = 1e-3;
// A cutoff below this share of the largest eigenvalue is rounding.
constexpr double kMinRelativeCutoff = 1e-12;
// The same as a share of the rounding error of T.
constexpr double kMinCutoffInRounding = 1e-3;
// Probing stops when mu is below this share of theta_k. A smaller mu improves the bound very
// little.
constexpr double kSmallComplement = 0.4;

/// The lower triangle of Y'Y, Y is rows x l.
void gram(const std::vector<double>& y, int rows, int l, std::vector<double>& c_ll) {
  c_ll.resize(size(l, l));
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, l, rows, 1, y.data(), rows, 0, c_ll.data(), l);
}

double largest_squared_column(const std::vector<double>& block, int rows, int cols) {
  double largest = 0;
  for (int i = 0; i < cols; ++i) {
    const double norm = cblas_dnrm2(rows, &block[size(rows, i)], 1);
    largest = std::max(largest, norm * norm);
  }
  return largest;
}

/// Uses a fixed seed, so that the bytes of an output depend only on its input.
void fill_normal(std::vector<double>& block_nr, int n) {
  if (block_nr.size() == size(n, kProbeVectors)) return;
  block_nr.resize(size(n, kProbeVectors));
  std::mt19937_64 random(2011);
  std::normal_distribution<double> normal;
  std::generate(block_nr.begin(), block_nr.end(), [&] { return normal(random); });
}

}  // namespace

void LossBound::prepare(const std::vector<float>& a_t_nm, const std::vector<float>& q_nl, int m,
                        int n, int l, int rank, double squared_norm) {
  m_ = m, n_ = n, l_ = l;
  squared_norm_ = squared_norm;
  const double epsilon = std::numeric_limits<double>::epsilon() * squared_norm;
  product_rounding_ = kProductRounding * (m + n) * std::sqrt(l) * epsilon;
  rounding_ = product_rounding_ + (m + n) * epsilon +  // of ||A||^2, unless A is of integers
              kOrthogonalityRounding * (double(n) * l + double(l) * l) * epsilon +
              kBackwardError * rank * l * epsilon;
  a_t_nm_.assign(a_t_nm.begin(), a_t_nm.end());
  q_nl_.assign(q_nl.begin(), q_nl.end());
  orthonormalize_basis();
  project();
  bound_complement(rank);
}

/// The eigenvalues of matrix_ll_ in descending order. Reads the lower triangle.
void LossBound::compute_eigenvalues(std::vector<double>& values) {
  solve_symmetric_(SymmetricEigenSolver::Job::values, l_, matrix_ll_, values);
  std::reverse(values.begin(), values.end());
}

/// One Cholesky QR. It is sufficient because the columns are already orthonormal to float32
/// precision.
void LossBound::orthonormalize_basis() {
  gram(q_nl_, n_, l_, matrix_ll_);
  check_lapack(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', l_, matrix_ll_.data(), l_), "dpotrf");
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n_, l_, 1,
              matrix_ll_.data(), l_, q_nl_.data(), n_);
}

/// Computes T, its eigenvalues theta, and G'G.
void LossBound::project() {
  b_ml_.resize(size(m_, l_));
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m_, l_, n_, 1, a_t_nm_.data(), n_,
              q_nl_.data(), n_, 0, b_ml_.data(), m_);
  gram(b_ml_, m_, l_, t_ll_);
  matrix_ll_ = t_ll_;
  compute_eigenvalues(theta_);
  w_nl_.resize(size(n_, l_));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n_, l_, m_, 1, a_t_nm_.data(), n_,
              b_ml_.data(), m_, 0, w_nl_.data(), n_);
  matrix_ll_.resize(size(l_, l_));
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, l_, l_, n_, 1, q_nl_.data(), n_,
              w_nl_.data(), n_, 0, matrix_ll_.data(), l_);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n_, l_, l_, -1, q_nl_.data(), n_,
              matrix_ll_.data(), l_, 1, w_nl_.data(), n_);
  gram(w_nl_, n_, l_, g_ll_);
}

/// block = (I - QQ') block.
void LossBound::deflate(std::vector<double>& block_nr) {
  coefficients_lr_.resize(size(l_, kProbeVectors));
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, l_, kProbeVectors, n_, 1, q_nl_.data(), n_,
              block_nr.data(), n_, 0, coefficients_lr_.data(), l_);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n_, kProbeVectors, l_, -1, q_nl_.data(),
              n_, coefficients_lr_.data(), l_, 1, block_nr.data(), n_);
}

/// Computes mu. Starts from ||A||_F^2 - sum theta_i >= ||C||_2^2 and raises the degree of the
/// probes until mu is small or the maximum degree is reached.
void LossBound::bound_complement(int rank) {
  const double theta_k = theta_[std::size_t(rank) - 1];
  const double captured = std::accumulate(theta_.begin(), theta_.end(), 0.0);
  complement_ = std::max(0.0, squared_norm_ - captured) + rounding_;
  if (l_ == n_) complement_ = rounding_;
  const double cutoff = std::max(
      {theta_.back(), kMinRelativeCutoff * theta_.front(), kMinCutoffInRounding * rounding_});
  fill_normal(random_nr_, n_);
  probe_nr_ = random_nr_;
  deflate(probe_nr_);
  image_mr_.resize(size(m_, kProbeVectors));
  for (int degree = 0; complement_ > kSmallComplement * theta_k; ++degree) {
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m_, kProbeVectors, n_, 1, a_t_nm_.data(),
                n_, probe_nr_.data(), n_, 0, image_mr_.data(), m_);
    const double bound =
        squared_norm_bound(largest_squared_column(image_mr_, m_, kProbeVectors), degree, cutoff);
    complement_ = std::min(complement_, bound + rounding_);
    if (degree == kMaxProbeDegree) return;
    // T_0 = w, T_1 = X w, T_{d+1} = 2 X T_d - T_{d-1} with X = 2 C'C / cutoff - I.
    next_nr_ = probe_nr_;
    const double twice = degree == 0 ? 1 : 2;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n_, kProbeVectors, m_,
                2 * twice / cutoff, a_t_nm_.data(), n_, image_mr_.data(), m_, -twice,
                next_nr_.data(), n_);
    if (degree > 0)
      cblas_daxpy(int(next_nr_.size()), -1, previous_nr_.data(), 1, next_nr_.data(), 1);
    deflate(next_nr_);
    std::swap(previous_nr_, probe_nr_);
    std::swap(probe_nr_, next_nr_);
  }
}

/// The bound with T + share G'G / (theta_k - mu). Rounding makes theta_k smaller and G'G larger.
double LossBound::loss_db(int k, double residual, double share) {
  const double gap = theta_[std::size_t(k) - 1] - rounding_ - complement_;
  if (!(gap > 0)) return std::numeric_limits<double>::infinity();
  matrix_ll_ = t_ll_;
  cblas_daxpy(int(matrix_ll_.size()), share * (1 + kResidualSplit) / gap, g_ll_.data(), 1,
              matrix_ll_.data(), 1);
  const double residual_rounding =
      (1 + 1 / kResidualSplit) * product_rounding_ * product_rounding_ / gap;
  compute_eigenvalues(values_);
  const double captured = std::accumulate(values_.begin(), values_.begin() + k, 0.0);
  const double optimum = squared_norm_ - captured - rounding_ - share * k * residual_rounding;
  // The error may be rounding only.
  if (!(optimum > 0)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, 10 * std::log10(residual * (1 + kSummationError) / optimum));
}

double LossBound::loss_db(int k, double residual) { return loss_db(k, residual, 1); }

double LossBound::converged_loss_db(int k, double residual) { return loss_db(k, residual, 0); }

}  // namespace eckart::compute::cpu
