#pragma once

#include <vector>

#include "compute/backend.hpp"

namespace eckart::compute::cpu {

/// The k leading right singular vectors of an m x n matrix A, m >= n, and squared singular values.
struct RightSingularVectors {
  std::vector<double> v_nk;  ///< column-major n x k, largest singular value first
  std::vector<double>
      sigma_squared;  ///< descending; k values from gram, all n from gesvd and gesvdj
};

/// Computes right singular vectors with LAPACK in float64. `a_t_nm` is A transposed, column-major n
/// x m; 1 <= k <= n.
///   gram    eigenvectors of A'A: few by bisection (dsyevr), many by divide and conquer (dsyevd)
///   gesvd   divide and conquer on A (dgesdd)
///   gesvdj  one-sided Jacobi on A, preconditioned (dgejsv)
/// The result is valid until the next call. Reuses its memory between calls. Throws as
/// check_lapack() does, and std::bad_alloc.
class RightSingularSolver {
 public:
  explicit RightSingularSolver(SolverKind kind) : solver_(kind) {}
  const RightSingularVectors& solve(const std::vector<double>& a_t_nm, int m, int n, int k);

 private:
  void gram(const std::vector<double>& a_t_nm, int m, int n, int k);
  void copy_leading(const double* vectors, const double* values, int n, int k);
  void gesvd(const std::vector<double>& a_t_nm, int m, int n, int k);
  void gesvdj(const std::vector<double>& a_t_nm, int m, int n, int k);

  const SolverKind solver_;
  RightSingularVectors result_;
  std::vector<double> matrix_, vectors_, values_, v_t_nm_;
  std::vector<int> support_;
};

}  // namespace eckart::compute::cpu
