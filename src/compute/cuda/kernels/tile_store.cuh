#pragma once

#include <type_traits>

#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/samples.cuh"

namespace eckart::compute::cuda {

constexpr int kTile = kReconstructTile;
inline unsigned tiles(int side) { return unsigned(tile_count(side, kTile)); }

/// A finished tile in shared memory. The odd stride puts the elements of a column in different
/// banks.
struct ReconstructTile {
  double at[kTile][kTile + 1];
};

/// The position in a tile of this thread's g-th quad.
template <int kThreads>
__device__ Position quad_position(int g) {
  return run_position(int(threadIdx.x) + g * kThreads, kTile, kQuadSamples);
}

/// Integer samples: clamps, rounds to nearest even, and adds the errors.
template <class Samples>
struct SampleErrors {
  // unsigned holds the sum of a thread's 8-bit samples
  using Sum = std::conditional_t<sizeof(Samples) == 1, unsigned, std::uint64_t>;
  static constexpr double peak = sizeof(Samples) == 1 ? 255 : 65535;
  Sum squared_norm = 0, squared_error = 0;
  double residual = 0;

  __device__ explicit SampleErrors(const PlaneLayout& /*plane*/) {}
  __device__ static unsigned round(double value) {
    return unsigned(__double2int_rn(fmin(fmax(value, 0.0), peak)));
  }
  __device__ void add(double value, unsigned before, unsigned after) {
    const double difference = value - double(before);
    const Sum sample = before, changed = after > before ? after - before : before - after;
    residual += difference * difference;
    squared_norm += sample * sample;
    squared_error += changed * changed;
  }
};

/// Float samples, multiplied by the scale of the plane.
template <>
struct SampleErrors<float> {
  double scale, inverse_scale;
  double squared_norm = 0, squared_error = 0, residual = 0;

  __device__ explicit SampleErrors(const PlaneLayout& plane)
      : scale(plane.scale), inverse_scale(1 / plane.scale) {}
  __device__ float round(double value) const { return float(value * inverse_scale); }
  __device__ void add(double value, float before, float after) {
    const double sample = scale * double(before);
    const double difference = value - sample, changed = scale * double(after) - sample;
    residual += difference * difference;
    squared_norm += sample * sample;
    squared_error += changed * changed;
  }
};

/// Rounds the tile to samples and stores it in the order of the image. Returns the errors of this
/// thread's pixels. `Samples` is the sample type of the image.
template <class Samples, int kThreads>
__device__ TileError store_tile(const ReconstructTile& tile, const PlaneLayout& plane,
                                const std::byte* pixels, int i0, int j0, std::byte* out) {
  const bool is_wide = plane.rows < plane.cols;
  const int row0 = is_wide ? j0 : i0, col0 = is_wide ? i0 : j0;
  constexpr int kThreadQuads = kTile * kTile / kQuadSamples / kThreads, kPrefetchQuads = 4;
  static_assert(kThreadQuads % kPrefetchQuads == 0);
  SampleErrors<Samples> errors(plane);
#pragma unroll 1
  for (int first = 0; first < kThreadQuads; first += kPrefetchQuads) {
    Value<Samples> before[kPrefetchQuads][kQuadSamples];
#pragma unroll
    for (int g = 0; g < kPrefetchQuads; ++g) {  // issue all loads before the first is used
      const Position at = quad_position<kThreads>(first + g);
      load(sample_quad<const Samples>(pixels, plane, row0 + at.row, col0 + at.column), before[g]);
    }
#pragma unroll
    for (int g = 0; g < kPrefetchQuads; ++g) {
      const Position at = quad_position<kThreads>(first + g);
      const auto target = sample_quad<Samples>(out, plane, row0 + at.row, col0 + at.column);
      Value<Samples> after[kQuadSamples];
#pragma unroll
      for (int e = 0; e < kQuadSamples; ++e) {
        const double value =
            is_wide ? tile.at[at.column + e][at.row] : tile.at[at.row][at.column + e];
        after[e] = errors.round(value);
        if (e < target.count) errors.add(value, before[g][e], after[e]);
      }
      store(target, after);
    }
  }
  return {double(errors.squared_norm), double(errors.squared_error), errors.residual};
}

__device__ inline TileError sum_over_warp(TileError sum) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    sum.squared_norm += __shfl_xor_sync(0xffffffffU, sum.squared_norm, half);
    sum.squared_error += __shfl_xor_sync(0xffffffffU, sum.squared_error, half);
    sum.residual += __shfl_xor_sync(0xffffffffU, sum.residual, half);
  }
  return sum;
}

/// Sums over the block in a fixed order. Thread 0 gets the result.
template <int kThreads>
__device__ TileError sum_over_block(TileError sum) {
  constexpr int kWarps = kThreads / 32;
  __shared__ TileError errors[kWarps];
  sum = sum_over_warp(sum);
  if (threadIdx.x % 32 == 0) errors[threadIdx.x / 32] = sum;
  __syncthreads();
  for (int warp = 1; warp < kWarps; ++warp) {
    sum.squared_norm += errors[warp].squared_norm;
    sum.squared_error += errors[warp].squared_error;
    sum.residual += errors[warp].residual;
  }
  return sum;
}

/// Stores a tile and its errors. All threads of the block must call it after the tile is complete.
template <int kThreads>
__device__ void store_tile_and_errors(const ReconstructTile& tile, const PlaneLayout& plane,
                                      const std::byte* pixels, int i0, int j0, std::byte* out,
                                      TileError* error) {
  const TileError thread_error =
      plane.sample_bytes == 1 ? store_tile<std::uint8_t, kThreads>(tile, plane, pixels, i0, j0, out)
      : plane.sample_bytes == 2
          ? store_tile<std::uint16_t, kThreads>(tile, plane, pixels, i0, j0, out)
          : store_tile<float, kThreads>(tile, plane, pixels, i0, j0, out);
  const TileError sum = sum_over_block<kThreads>(thread_error);
  if (threadIdx.x == 0) *error = sum;
}

}  // namespace eckart::compute::cuda
