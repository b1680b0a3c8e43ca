#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute::cuda {

/// Where a solver has written the values of a batch. Value i of plane p, the largest first, is at
/// values[p * plane_stride + first + i * step].
struct DeviceSpectra {
  const double* values;
  std::int64_t plane_stride;
  int first, step;
  int count;               ///< values of a plane that its factors cover; at most n of them exist
  bool are_roots;          ///< sigma of A instead of eigenvalues of A'A
  bool is_scaled = false;  ///< the samples were multiplied by float16_scale()
};

/// Chooses the ranks of a batch. rules[o * count + p] is the rule of output o for plane p; it is
/// the same for planes that are chosen together. Writes the rank to ranks[o * count + p]; the
/// negated rank if the values are not enough to choose it; 0 for empty planes. Writes ||A||_F^2
/// of each plane to `squared_norms`. The planes of an image must follow each other, none missing.
/// All pointers are device pointers. Asynchronous. Throws as check_launch() does.
void choose_batch_ranks(const std::byte* pixels, const PlaneLayout* planes, int count,
                        const DeviceSpectra& spectra, const RankRule* rules, int outputs,
                        double* squared_norms, int* ranks, cudaStream_t stream);

}  // namespace eckart::compute::cuda
