#pragma once

#include <vector>

#include "compute/certificate.hpp"
#include "compute/cpu/plane_task.hpp"
#include "compute/cpu/right_singular_vectors.hpp"

namespace eckart::compute::cpu {

/// Reconstructs planes as A_k = (A V_k) V_k' in float64. Reuses its memory between calls.
class Float64Solver {
 public:
  explicit Float64Solver(SolverKind solver)
      : solver_(solver),
        precision_(solver == SolverKind::gram ? Precision::float64_gram : Precision::float64) {}

  /// Throws ItemError(not_converged) if LAPACK does not converge, and as check_lapack() does.
  template <class T>
  void reconstruct(const PlaneTask<T>& plane);

 private:
  RightSingularSolver solver_;
  const Precision precision_;
  std::vector<double> a_t_nm_, p_mk_, values_;
};

}  // namespace eckart::compute::cpu
