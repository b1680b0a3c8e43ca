#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/plane.hpp"

namespace eckart::cuda {

/// Factors of a batch, A_k = P V_k': P = A V (m rows), V (n rows), float64, columns one after the
/// other. Element (i, t) of plane p, t = 0 for the largest singular value, is at p_mk[p * p_plane +
/// t * p_column + i]; columns in ascending order have a negative stride, and the pointer is then to
/// the last column.
struct Factors {
  const double* p_mk;
  const double* v_nk;
  std::int64_t p_plane, v_plane;
  std::int64_t p_column, v_column;
};

/// Sums over the pixels of one tile of one plane.
struct TileError {
  std::uint64_t squared_norm;   ///< of the samples; exact
  std::uint64_t squared_error;  ///< of the pixels stored; exact
  double residual;              ///< squared error before clamping and rounding
};

/// Tiles a plane padded to m x n has.
int reconstruct_tiles(int m, int n);

/// Multiplies, clamps to the samples' range, rounds to nearest even and stores the rank-k
/// reconstruction of each plane, k = min(rank, plane's sides), at its place in `out` (packed as
/// `pixels` is). Writes reconstruct_tiles(m, n) errors a plane, one plane after the other. All
/// pointers are on the device.
void reconstruct(const std::byte* pixels, const Plane* planes, int count, int m, int n, int rank,
                 const Factors& factors, std::byte* out, TileError* errors, cudaStream_t stream);

}  // namespace eckart::cuda
