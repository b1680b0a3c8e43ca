#pragma once

#include <vector>

#include "compute/cpu/plane.hpp"
#include "compute/cpu/right_singular_vectors.hpp"

namespace eckart::cpu {

/// Reconstructs planes by A V_k V_k' in float64. Keeps its memory between calls.
class Float64Way {
 public:
  explicit Float64Way(SolverKind solver) : solver_(solver) {}

  /// Throws ItemError(not_converged).
  template <class T>
  void reconstruct(const Plane<T>& plane);

 private:
  RightSingularSolver solver_;
  std::vector<double> a_t_nm_, p_mk_, values_;
};

}  // namespace eckart::cpu
