#pragma once

#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"

namespace eckart::cuda {

constexpr int kTile = 64;  // a block makes a kTile x kTile tile of A_k
inline unsigned tiles(int side) { return unsigned(side + kTile - 1) / kTile; }

/// A finished tile in shared memory; an odd stride, so that columns lie in different banks.
template <class Real>
struct Tile {
  Real at[kTile][kTile + 1];
};

/// Stores the tile in the image's order, clamped and rounded, and returns this thread's share of
/// the errors. `Samples` is what an image's samples are.
template <class Samples, int kThreads, class Real>
__device__ TileError store(const Tile<Real>& tile, const Plane& plane, const std::byte* pixels,
                           int i0, int j0, std::byte* out) {
  constexpr Real top = sizeof(Samples) == 1 ? Real(255) : Real(65535);
  const auto* source = reinterpret_cast<const Samples*>(pixels + plane.offset_bytes);
  auto* target = reinterpret_cast<Samples*>(out + plane.offset_bytes);
  const bool wide = plane.rows < plane.cols;
  TileError error{0, 0, 0.0};
  Real residual = 0;  // of a few dozen samples
  for (int at = int(threadIdx.x); at < kTile * kTile; at += kThreads) {
    const int slow = at / kTile, fast = at % kTile;
    const int i = wide ? fast : slow, j = wide ? slow : fast;
    if (i0 + i >= plane.m() || j0 + j >= plane.n()) continue;
    const std::int64_t index = plane.sample(i0 + i, j0 + j);
    const unsigned sample = source[index];
    const Real value = tile.at[i][j], clamped = fmin(fmax(value, Real(0)), top);
    const auto stored =
        sizeof(Real) == 4 ? __float2int_rn(float(clamped)) : __double2int_rn(double(clamped));
    const Real before = value - Real(sample);
    const auto after = std::int64_t(stored) - std::int64_t(sample);
    error.squared_norm += std::uint64_t(sample) * sample;
    error.squared_error += std::uint64_t(after * after);
    residual += before * before;
    target[index] = Samples(stored);
  }
  error.residual = double(residual);
  return error;
}

/// Sums over the block, always in the same order; the result is thread 0's.
template <int kThreads>
__device__ TileError sum_over_block(TileError mine) {
  __shared__ TileError errors[kThreads];
  __syncthreads();
  errors[threadIdx.x] = mine;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      errors[threadIdx.x].squared_norm += errors[threadIdx.x + half].squared_norm;
      errors[threadIdx.x].squared_error += errors[threadIdx.x + half].squared_error;
      errors[threadIdx.x].residual += errors[threadIdx.x + half].residual;
    }
  }
  return errors[threadIdx.x];
}

/// Stores a tile and its errors; the whole block takes part, after the tile is complete.
template <int kThreads, class Real>
__device__ void finish(const Tile<Real>& tile, const Plane& plane, const std::byte* pixels, int i0,
                       int j0, std::byte* out, TileError* error) {
  const TileError mine = plane.sample_bytes == 1
                             ? store<std::uint8_t, kThreads>(tile, plane, pixels, i0, j0, out)
                             : store<std::uint16_t, kThreads>(tile, plane, pixels, i0, j0, out);
  const TileError sum = sum_over_block<kThreads>(mine);
  if (threadIdx.x == 0) *error = sum;
}

}  // namespace eckart::cuda
