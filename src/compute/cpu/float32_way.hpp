#pragma once

#include <cstddef>
#include <vector>

#include "compute/cpu/plane.hpp"
#include "compute/cpu/subspace_iteration.hpp"

namespace eckart::cpu {

/// Reconstructs planes by block subspace iteration in float32, with a certificate: every output is
/// within 0.01 dB of the optimum, or the plane is refused. Keeps its memory between calls.
class Float32Way {
 public:
  /// False if the iteration does not get there; the plane's outputs are then of no use.
  template <class T>
  bool reconstruct(const Plane<T>& plane);

 private:
  enum class Verdict { good, not_yet, never };

  template <class T>
  Verdict write(const Plane<T>& plane, const SubspaceIteration::Factors& factors);

  SubspaceIteration iteration_;
  std::vector<std::byte> samples_, stored_;
  std::vector<float> a_t_nm_, values_;
  double squared_norm_ = 0;
};

}  // namespace eckart::cpu
