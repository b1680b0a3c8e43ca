#pragma once

#include <vector>

#include "compute/certificate.hpp"
#include "compute/cpu/plane_task.hpp"
#include "compute/cpu/right_singular_vectors.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute::cpu {

/// The samples of a plane, and what only a reconstruction needs. The solvers of a lane share it.
struct Float64Workspace {
  std::vector<double> a_t_nm, p_mk, values;
};

/// Reconstructs planes as A_k = (A V_k) V_k' in float64. Reuses its memory between calls.
/// `workspace` must outlive the solver.
class Float64Solver {
 public:
  Float64Solver(SolverKind solver, Float64Workspace& workspace)
      : kind_(solver),
        workspace_(workspace),
        solver_(solver),
        precision_(solver == SolverKind::gram ? Precision::float64_gram : Precision::float64) {}

  SolverKind kind() const { return kind_; }

  /// Loads the samples of a plane into the workspace.
  template <class T>
  void load(const PlaneTask<T>& plane);

  // decompose() and reconstruct() need the samples of their plane in the workspace: load() the
  // plane again if another one was loaded. Both throw ItemError(not_converged) if LAPACK does not
  // converge, and as check_lapack() does.

  /// Computes all singular values of the plane that was loaded.
  void decompose();
  /// The singular values of the samples of the plane of decompose().
  PlaneSpectrum spectrum() const;
  /// Computes the outputs and factors of the plane of decompose(). Call it at most once for each.
  template <class T>
  void reconstruct(const PlaneTask<T>& plane);

 private:
  const SolverKind kind_;
  Float64Workspace& workspace_;
  RightSingularSolver solver_;
  const Precision precision_;
  int m_ = 0, n_ = 0;
  double scale_ = 1;  // of the plane
  double squared_norm_ = 0;
  const std::vector<double>* sigma_squared_ = nullptr;  // owned by solver_
};

}  // namespace eckart::compute::cpu
