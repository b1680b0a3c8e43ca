#include "compute/cpu/right_singular_vectors.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <algorithm>

#include "compute/cost_model.hpp"
#include "compute/cpu/lapack_info.hpp"
#include "compute/cpu/matrix_size.hpp"
#include "compute/cpu/symmetric_eigen.hpp"

namespace eckart::compute::cpu {

const std::vector<double>& RightSingularSolver::decompose(const std::vector<double>& a_t_nm, int m,
                                                          int n) {
  n_ = n;
  sigma_squared_.resize(std::size_t(n));
  values_.resize(std::size_t(n));
  switch (solver_) {
    case SolverKind::gesvd:
      decompose_gesvd(a_t_nm, m);
      break;
    case SolverKind::gesvdj:
      decompose_gesvdj(a_t_nm, m);
      break;
    case SolverKind::automatic:
    case SolverKind::subspace:
    case SolverKind::gram:
      decompose_gram(a_t_nm, m);
      break;
  }
  return sigma_squared_;
}

const std::vector<double>& RightSingularSolver::vectors(int k) {
  v_nk_.resize(size(n_, k));
  if (solver_ == SolverKind::gesvd || solver_ == SolverKind::gesvdj) {
    std::copy_n(vectors_.begin(), size(n_, k), v_nk_.begin());
  } else {
    vectors_of_gram(k);
  }
  return v_nk_;
}

void RightSingularSolver::decompose_gram(const std::vector<double>& a_t_nm, int m) {
  const auto n = std::size_t(n_);
  matrix_.resize(n * n);
  diagonal_.resize(n);
  off_diagonal_.resize(n);
  resize_padded(reflector_scales_, n);
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n_, m, 1.0, a_t_nm.data(), n_, 0.0,
              matrix_.data(), n_);
  tridiagonalize();
  values_ = diagonal_;
  vectors_ = off_diagonal_;  // dsterf overwrites both
  check_lapack(LAPACKE_dsterf(n_, values_.data(), vectors_.data()), "dsterf");
  std::transform(values_.rbegin(), values_.rend(), sigma_squared_.begin(),
                 [](double value) { return std::max(0.0, value); });
}

void RightSingularSolver::tridiagonalize() {
  const auto reduce = [this](double* work, lapack_int size) {
    check_lapack(
        LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'L', n_, matrix_.data(), n_, diagonal_.data(),
                            off_diagonal_.data(), reflector_scales_.data(), work, size),
        "dsytrd");
  };
  double optimal_size = 0;
  reduce(&optimal_size, -1);
  resize_padded(workspace_, std::size_t(optimal_size));
  reduce(workspace_.data(), lapack_int(optimal_size));
}

/// Eigenvectors of the tridiagonal matrix, in ascending order, transformed back.
void RightSingularSolver::vectors_of_gram(int k) {
  const double* leading = nullptr;
  if (k > max_bisection_vectors(n_)) {
    vectors_.resize(size(n_, n_));
    check_lapack(LAPACKE_dstedc(LAPACK_COL_MAJOR, 'I', n_, diagonal_.data(), off_diagonal_.data(),
                                vectors_.data(), n_),
                 "dstedc");
    leading = &vectors_[size(n_, n_ - k)];
  } else {
    vectors_.resize(size(n_, k));
    support_.resize(2 * std::size_t(n_));
    lapack_int found = 0;
    lapack_logical is_accurate = 1;
    check_lapack(LAPACKE_dstemr(LAPACK_COL_MAJOR, 'V', 'I', n_, diagonal_.data(),
                                off_diagonal_.data(), 0, 0, n_ - k + 1, n_, &found, values_.data(),
                                vectors_.data(), n_, k, support_.data(), &is_accurate),
                 "dstemr");
    leading = vectors_.data();
  }
  for (int i = 0; i < k; ++i) std::copy_n(leading + size(n_, k - 1 - i), n_, &v_nk_[size(n_, i)]);
  check_lapack(LAPACKE_dormtr(LAPACK_COL_MAJOR, 'L', 'L', 'N', n_, k, matrix_.data(), n_,
                              reflector_scales_.data(), v_nk_.data(), n_),
               "dormtr");
}

void RightSingularSolver::decompose_gesvd(const std::vector<double>& a_t_nm, int m) {
  std::vector<double> overwritten = a_t_nm;
  vectors_.resize(size(n_, n_));
  // Left singular vectors of A; dgesdd always computes both sides.
  std::vector<double> u_t_nm(size(n_, m));
  check_lapack(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', n_, m, overwritten.data(), n_, values_.data(),
                              vectors_.data(), n_, u_t_nm.data(), n_),
               "dgesdd");
  std::transform(values_.begin(), values_.end(), sigma_squared_.begin(),
                 [](double sigma) { return sigma * sigma; });
}

void RightSingularSolver::decompose_gesvdj(const std::vector<double>& a_t_nm, int m) {
  std::vector<double> a_mn(size(m, n_));
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n_; ++col) {
      a_mn[size(m, col) + std::size_t(row)] = a_t_nm[size(n_, row) + std::size_t(col)];
    }
  }
  vectors_.resize(size(n_, n_));
  // dgejsv preconditions with a pivoted QR. Without it Jacobi may not converge for low-rank
  // matrices.
  double statistics[7];
  lapack_int counts[3];
  check_lapack(LAPACKE_dgejsv(LAPACK_COL_MAJOR, 'C', 'N', 'V', 'R', 'N', 'N', m, n_, a_mn.data(), m,
                              values_.data(), nullptr, m, vectors_.data(), n_, statistics, counts),
               "dgejsv");
  const double scale = statistics[0] / statistics[1];
  std::transform(values_.begin(), values_.end(), sigma_squared_.begin(),
                 [scale](double sigma) { return sigma * scale * sigma * scale; });
}

}  // namespace eckart::compute::cpu
