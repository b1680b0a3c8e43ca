#pragma once

#include <vector>

#include "compute/backend.hpp"

namespace eckart::compute::cpu {

/// Computes singular values, and leading right singular vectors, of an m x n matrix A, m >= n, with
/// LAPACK in float64.
///   gram    eigenvalues of A'A (dsytrd, dsterf), then few vectors by relatively robust
///           representations (dstemr), or many by divide and conquer (dstedc)
///   gesvd   divide and conquer on A (dgesdd)
///   gesvdj  one-sided Jacobi on A, preconditioned (dgejsv)
/// Reuses its memory between calls. Throws as check_lapack() does, and std::bad_alloc.
class RightSingularSolver {
 public:
  explicit RightSingularSolver(SolverKind kind) : solver_(kind) {}

  /// Returns all n squared singular values, descending. `a_t_nm` is A transposed, column-major n x
  /// m. The result is valid until the next call.
  const std::vector<double>& decompose(const std::vector<double>& a_t_nm, int m, int n);

  /// Returns the k leading right singular vectors of the last matrix, column-major n x k, the
  /// largest singular value first. 1 <= k <= n. Call it at most once for each matrix.
  const std::vector<double>& vectors(int k);

 private:
  void decompose_gram(const std::vector<double>& a_t_nm, int m);
  void tridiagonalize();
  void decompose_gesvd(const std::vector<double>& a_t_nm, int m);
  void decompose_gesvdj(const std::vector<double>& a_t_nm, int m);
  void vectors_of_gram(int k);

  const SolverKind solver_;
  int n_ = 0;
  std::vector<double> sigma_squared_, v_nk_;
  // A'A, reduced to tridiagonal form with the reflectors of the reduction; or all vectors of A.
  std::vector<double> matrix_;
  std::vector<double> diagonal_, off_diagonal_, reflector_scales_, values_, vectors_, workspace_;
  std::vector<int> support_;
};

}  // namespace eckart::compute::cpu
