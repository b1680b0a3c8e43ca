#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/layout/factors.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::cuda {

/// Sums over the pixels of one tile of one plane.
struct TileError {
  std::uint64_t squared_norm;   ///< of the samples; exact
  std::uint64_t squared_error;  ///< of the pixels stored; exact
  double residual;              ///< squared error before clamping and rounding
};

/// Multiplies, clamps to the samples' range, rounds to nearest even and stores the rank-k
/// reconstruction of each plane, k = min(rank, plane's sides), at its place in `out` (packed as
/// `pixels` is). Writes reconstruct_tile_count(m, n) errors a plane, one plane after the other. All
/// pointers are on the device.
void reconstruct(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
                 int rank, const Factors& factors, std::byte* out, TileError* errors,
                 cudaStream_t stream);

}  // namespace eckart::cuda
