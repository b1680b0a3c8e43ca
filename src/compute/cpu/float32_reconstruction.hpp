#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/cpu/plane_task.hpp"
#include "compute/cpu/samples.hpp"
#include "compute/cpu/subspace_iteration.hpp"

namespace eckart::compute::cpu {

/// Computes outputs of planes from factors in float32. Works on bands of rows of the image, so that
/// a band stays in the cache until all of its outputs are written. Reuses its memory between calls.
class Float32Reconstruction {
 public:
  /// Computes, rounds and stores the values A_k = U_k V_k' of outputs whose ranks ascend: those of
  /// a rank are those of the one before and the triplets between. Returns the errors of each
  /// output. Throws std::bad_alloc.
  template <class T>
  std::vector<SquaredErrors> store(const SubspaceIteration::LowRankFactors& factors,
                                   const PlaneTask<T>& plane,
                                   std::span<const typename PlaneTask<T>::Output* const> outputs);

 private:
  std::vector<float> values_, originals_;  // of a band
  std::vector<std::byte> samples_, stored_;
};

}  // namespace eckart::compute::cpu
