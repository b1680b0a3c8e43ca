#pragma once

#include <vector>

#include "compute/certificate.hpp"
#include "compute/cpu/plane_task.hpp"
#include "compute/cpu/right_singular_vectors.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute::cpu {

/// Reconstructs planes as A_k = (A V_k) V_k' in float64. Reuses its memory between calls.
class Float64Solver {
 public:
  explicit Float64Solver(SolverKind solver)
      : kind_(solver),
        solver_(solver),
        precision_(solver == SolverKind::gram ? Precision::float64_gram : Precision::float64) {}

  // Both throw ItemError(not_converged) if LAPACK does not converge, and as check_lapack() does.

  /// Computes all singular values of the plane.
  template <class T>
  void decompose(const PlaneTask<T>& plane);
  /// The singular values of the samples of the last plane.
  PlaneSpectrum spectrum() const;
  /// Computes the outputs and factors of the last plane. Call it at most once for each plane.
  template <class T>
  void reconstruct(const PlaneTask<T>& plane);

 private:
  const SolverKind kind_;
  RightSingularSolver solver_;
  const Precision precision_;
  int m_ = 0, n_ = 0;
  double scale_ = 1;  // of the plane
  double squared_norm_ = 0;
  const std::vector<double>* sigma_squared_ = nullptr;  // owned by solver_
  std::vector<double> a_t_nm_, p_mk_, values_;
};

}  // namespace eckart::compute::cpu
