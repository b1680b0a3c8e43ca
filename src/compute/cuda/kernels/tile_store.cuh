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

/// The elements of A_k in a quad of the image.
struct QuadValues {
  double at[kQuadSamples];
};

/// The elements of a tile in the order of the image.
class TileValues {
 public:
  __device__ TileValues(const ReconstructTile& tile, bool is_wide)
      : tile_(tile), is_wide_(is_wide) {}
  __device__ QuadValues load(Position at) const {
    QuadValues values;
#pragma unroll
    for (int e = 0; e < kQuadSamples; ++e)
      values.at[e] = is_wide_ ? tile_.at[at.column + e][at.row] : tile_.at[at.row][at.column + e];
    return values;
  }

 private:
  const ReconstructTile& tile_;
  bool is_wide_;
};

/// Rounds a tile to samples and stores it in the order of the image. `first` is the position of the
/// tile in the image; `values.load()` gets positions relative to it. A thread loads the pixels of
/// `kPrefetchQuads` quads at once. Returns the errors of this thread's pixels.
template <int kThreads, int kPrefetchQuads, class Quads, class Values>
__device__ TileError store_quads(const Quads& quads, const Values& values, const PlaneLayout& plane,
                                 const std::byte* pixels, Position first, std::byte* out) {
  using Samples = typename Quads::Samples;
  constexpr int kThreadQuads = kTile * kTile / kQuadSamples / kThreads;
  static_assert(kThreadQuads % kPrefetchQuads == 0);
  const auto position = [](int g) {
    return run_position(int(threadIdx.x) + g * kThreads, kTile, kQuadSamples);
  };
  SampleErrors<Samples> errors(plane);
#pragma unroll 1
  for (int first_quad = 0; first_quad < kThreadQuads; first_quad += kPrefetchQuads) {
    typename Quads::Quad before[kPrefetchQuads];
#pragma unroll
    for (int g = 0; g < kPrefetchQuads; ++g) {  // issue all loads before the first is used
      const Position in_tile = position(first_quad + g);
      const Position at{first.row + in_tile.row, first.column + in_tile.column};
      before[g] = quads.load(pixels, at);
    }
#pragma unroll
    for (int g = 0; g < kPrefetchQuads; ++g) {
      const Position in_tile = position(first_quad + g);
      const Position at{first.row + in_tile.row, first.column + in_tile.column};
      const QuadValues exact = values.load(in_tile);
      typename Quads::Quad after;
#pragma unroll
      for (int e = 0; e < kQuadSamples; ++e) {
        const double value = exact.at[e];
        after.at[e] = errors.round(value);
        if (e < quads.count(at)) errors.add(value, before[g].at[e], after.at[e]);
      }
      quads.store(out, at, after);
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

/// Stores a tile with store_quads(), and its errors.
template <int kThreads, int kPrefetchQuads, class Values>
__device__ void store_quads_and_errors(const Values& values, const PlaneLayout& plane,
                                       const std::byte* pixels, Position first, std::byte* out,
                                       TileError* error) {
  const auto store = [&](const auto& quads) {
    return store_quads<kThreads, kPrefetchQuads>(quads, values, plane, pixels, first, out);
  };
  const TileError of_thread = plane.sample_bytes == 1 ? with_plane_quads<std::uint8_t>(plane, store)
                              : plane.sample_bytes == 2
                                  ? with_plane_quads<std::uint16_t>(plane, store)
                                  : with_plane_quads<float>(plane, store);
  const TileError sum = sum_over_block<kThreads>(of_thread);
  if (threadIdx.x == 0) *error = sum;
}

/// Stores the tile from (i0, j0) of A_k and its errors. All threads of the block must call it after
/// the tile is complete.
template <int kThreads, int kPrefetchQuads>
__device__ void store_tile_and_errors(const ReconstructTile& tile, const PlaneLayout& plane,
                                      const std::byte* pixels, int i0, int j0, std::byte* out,
                                      TileError* error) {
  const bool is_wide = plane.rows < plane.cols;
  store_quads_and_errors<kThreads, kPrefetchQuads>(TileValues(tile, is_wide), plane, pixels,
                                                   is_wide ? Position{j0, i0} : Position{i0, j0},
                                                   out, error);
}

}  // namespace eckart::compute::cuda
