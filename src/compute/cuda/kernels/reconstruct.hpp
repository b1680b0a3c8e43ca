#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "compute/cuda/layout/factors.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {

/// Sums over the pixels of one tile of one plane, of samples multiplied by PlaneLayout::scale.
struct TileError {
  double squared_norm;   ///< of the samples; exact for integers
  double squared_error;  ///< of the pixels written; exact for integers
  double residual;       ///< squared error before clamping and rounding
};

/// Reconstructs each plane with rank min(rank, m, n) of the plane, or with chosen_ranks[plane] if
/// that pointer is not null; a plane with a negative rank is left out. It multiplies the factors,
/// clamps to the range of the samples, rounds to nearest even, and stores; floats are only divided
/// by their scale. `out` is packed like `pixels`. Writes reconstruct_tile_count(m, n) errors per
/// plane, plane after plane. All pointers are device pointers, `pixels` and `out` aligned to 16
/// bytes. Asynchronous. Throws as
/// check_launch() does.
void reconstruct(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
                 int rank, const int* chosen_ranks, const Factors& factors, std::byte* out,
                 TileError* errors, cudaStream_t stream);

/// The share of the threads of a multiprocessor that can be resident in reconstruct().
double reconstruct_occupancy();

/// Like reconstruct(), from the products A_k: m x n for each plane, row-major. `has_wide_planes` is
/// true if a plane has fewer rows than columns. `product_mn` is aligned to 16 bytes.
void store_product(const std::byte* pixels, const PlaneLayout* planes, bool has_wide_planes,
                   int count, int m, int n, const double* product_mn, std::byte* out,
                   TileError* errors, cudaStream_t stream);

}  // namespace eckart::compute::cuda
