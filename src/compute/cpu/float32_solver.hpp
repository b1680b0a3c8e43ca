#pragma once

#include <cstddef>
#include <vector>

#include "compute/cpu/loss_bound.hpp"
#include "compute/cpu/plane_task.hpp"
#include "compute/cpu/subspace_iteration.hpp"

namespace eckart::compute::cpu {

/// Reconstructs planes by block subspace iteration in float32. A plane is accepted only if all of
/// its outputs are certified. Reuses its memory between calls.
class Float32Solver {
 public:
  explicit Float32Solver(Certificate certificate) : certificate_(certificate) {}

  /// Returns false if the iteration did not certify all outputs, or failed numerically. The outputs
  /// of the plane are then invalid. Throws std::bad_alloc, but no ItemError.
  template <class T>
  bool reconstruct(const PlaneTask<T>& plane);

 private:
  enum class Certification { certified, uncertified, uncertifiable };

  template <class T>
  Certification certify_outputs(const PlaneTask<T>& plane,
                                const SubspaceIteration::LowRankFactors& factors);

  template <class T>
  Certification prove_outputs(const PlaneTask<T>& plane);

  const Certificate certificate_;
  SubspaceIteration iteration_;
  LossBound bound_;
  std::vector<std::byte> samples_, stored_;
  std::vector<float> a_t_nm_, values_;
  double squared_norm_ = 0;
};

}  // namespace eckart::compute::cpu
