#include "compute/cpu/right_singular_vectors.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>

#include "compute/cost_model.hpp"
#include "compute/cpu/lapack_info.hpp"
#include "compute/cpu/matrix_size.hpp"

namespace eckart::compute::cpu {
const RightSingularVectors& RightSingularSolver::solve(const std::vector<double>& a_t_nm, int m,
                                                       int n, int k) {
  result_.v_nk.resize(size(n, k));
  result_.sigma_squared.resize(
      std::size_t(solver_ == SolverKind::gesvd || solver_ == SolverKind::gesvdj ? n : k));
  switch (solver_) {
    case SolverKind::gesvd:
      gesvd(a_t_nm, m, n, k);
      break;
    case SolverKind::gesvdj:
      gesvdj(a_t_nm, m, n, k);
      break;
    case SolverKind::automatic:
    case SolverKind::subspace:
    case SolverKind::gram:
      gram(a_t_nm, m, n, k);
      break;
  }
  return result_;
}

void RightSingularSolver::gram(const std::vector<double>& a_t_nm, int m, int n, int k) {
  matrix_.resize(size(n, n));
  values_.resize(std::size_t(n));
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, m, 1.0, a_t_nm.data(), n, 0.0,
              matrix_.data(), n);
  // LAPACK returns eigenvalues in ascending order, so the last k are the leading ones.
  if (k > max_bisection_vectors(n)) {
    check_lapack(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, matrix_.data(), n, values_.data()),
                 "dsyevd");
    copy_leading(&matrix_[size(n, n - k)], &values_[std::size_t(n - k)], n, k);
    return;
  }
  vectors_.resize(size(n, k));
  support_.resize(2 * std::size_t(n));
  lapack_int found = 0;
  check_lapack(
      LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'L', n, matrix_.data(), n, 0, 0, n - k + 1, n, 0.0,
                     &found, values_.data(), vectors_.data(), n, support_.data()),
      "dsyevr");
  copy_leading(vectors_.data(), values_.data(), n, k);
}

/// Copies the last k of n eigenvectors (n x k, ascending) of A'A in descending order.
void RightSingularSolver::copy_leading(const double* vectors, const double* values, int n, int k) {
  for (int i = 0; i < k; ++i) {
    const int from = k - 1 - i;
    std::copy_n(vectors + size(n, from), n, &result_.v_nk[size(n, i)]);
    result_.sigma_squared[std::size_t(i)] = std::max(0.0, values[from]);
  }
}

void RightSingularSolver::gesvd(const std::vector<double>& a_t_nm, int m, int n, int k) {
  matrix_ = a_t_nm;
  vectors_.resize(size(n, n));
  values_.resize(std::size_t(n));
  // Left singular vectors of A; dgesdd always computes both sides.
  v_t_nm_.resize(size(n, m));
  check_lapack(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', n, m, matrix_.data(), n, values_.data(),
                              vectors_.data(), n, v_t_nm_.data(), n),
               "dgesdd");
  std::copy_n(vectors_.begin(), size(n, k), result_.v_nk.begin());
  std::transform(values_.begin(), values_.end(), result_.sigma_squared.begin(),
                 [](double sigma) { return sigma * sigma; });
}

void RightSingularSolver::gesvdj(const std::vector<double>& a_t_nm, int m, int n, int k) {
  matrix_.resize(size(m, n));
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      matrix_[size(m, col) + std::size_t(row)] = a_t_nm[size(n, row) + std::size_t(col)];
    }
  }
  vectors_.resize(size(n, n));
  values_.resize(std::size_t(n));
  // dgejsv preconditions with a pivoted QR. Without it Jacobi may not converge for low-rank
  // matrices.
  double statistics[7];
  lapack_int counts[3];
  check_lapack(
      LAPACKE_dgejsv(LAPACK_COL_MAJOR, 'C', 'N', 'V', 'R', 'N', 'N', m, n, matrix_.data(), m,
                     values_.data(), nullptr, m, vectors_.data(), n, statistics, counts),
      "dgejsv");
  std::copy_n(vectors_.begin(), size(n, k), result_.v_nk.begin());
  const double scale = statistics[0] / statistics[1];
  std::transform(values_.begin(), values_.end(), result_.sigma_squared.begin(),
                 [scale](double sigma) { return sigma * scale * sigma * scale; });
}

}  // namespace eckart::compute::cpu
