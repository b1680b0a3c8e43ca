#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/samples.cuh"
#include "compute/cuda/kernels/unpack_float16.hpp"

namespace eckart::compute::cuda {
namespace {

// a block copies a kTile x kTile tile through shared memory, which transposes wide planes
constexpr int kTile = 64;
constexpr int kThreads = 256;

struct UnpackTile {
  __half at[kTile][kTile + 2];
};

/// Loads the samples of a tile, transposed if the plane is wide. Zeros outside the plane.
template <class Quads>
__device__ void load_tile(const Quads& quads, const PlaneLayout& plane, const std::byte* pixels,
                          int i0, int j0, UnpackTile& hi, UnpackTile& lo) {
  using Samples = typename Quads::Samples;
  const bool is_wide = plane.rows < plane.cols;
  const int row0 = is_wide ? j0 : i0, col0 = is_wide ? i0 : j0;
  constexpr float kScale = float(float16_scale(sizeof(Samples)));
  for (int at = int(threadIdx.x); at < kTile * kTile / kQuadSamples; at += kThreads) {
    const auto [row, col] = run_position(at, kTile, kQuadSamples);
    const auto samples = quads.load(pixels, {row0 + row, col0 + col});
#pragma unroll
    for (int e = 0; e < kQuadSamples; ++e) {
      const int i = is_wide ? col + e : row, j = is_wide ? row : col + e;
      const float value = kScale * float(samples.at[e]);
      hi.at[i][j] = __float2half_rn(value);
      if (sizeof(Samples) > 1) lo.at[i][j] = __float2half_rn(value - __half2float(hi.at[i][j]));
    }
  }
}

__device__ void store_tile(const UnpackTile& tile, int m, int n, int i0, int j0, __half* a_t) {
  for (int at = int(threadIdx.x); at < kTile * kTile / 2; at += kThreads) {
    const auto [i, j] = run_position(at, kTile, 2);
    if (i0 + i >= m || j0 + j >= n) continue;
    *reinterpret_cast<__half2*>(a_t + std::size_t(i0 + i) * std::size_t(n) + std::size_t(j0 + j)) =
        *reinterpret_cast<const __half2*>(&tile.at[i][j]);
  }
}

__global__ void __launch_bounds__(kThreads)
    unpack_float16_kernel(const std::byte* __restrict__ pixels,
                          const PlaneLayout* __restrict__ planes, int m, int n,
                          __half* __restrict__ hi_t, __half* __restrict__ lo_t) {
  __shared__ UnpackTile hi, lo;
  const PlaneLayout plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  const std::size_t matrix = std::size_t(blockIdx.z) * std::size_t(m) * std::size_t(n);
  const auto load = [&](const auto& quads) { load_tile(quads, plane, pixels, i0, j0, hi, lo); };
  const bool has_8_bit_samples = plane.sample_bytes == 1;
  if (has_8_bit_samples) {
    with_plane_quads<std::uint8_t>(plane, load);
    if (lo_t) {
      for (int at = int(threadIdx.x); at < kTile * kTile; at += kThreads)
        lo.at[at / kTile][at % kTile] = __half{};
    }
  } else {
    with_plane_quads<std::uint16_t>(plane, load);
  }
  __syncthreads();
  store_tile(hi, m, n, i0, j0, hi_t + matrix);
  if (lo_t) store_tile(lo, m, n, i0, j0, lo_t + matrix);
}

}  // namespace

void unpack_float16(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
                    __half* hi_t, __half* lo_t, cudaStream_t stream) {
  const dim3 grid(unsigned(tile_count(n, kTile)), unsigned(tile_count(m, kTile)), unsigned(count));
  unpack_float16_kernel<<<grid, kThreads, 0, stream>>>(pixels, planes, m, n, hi_t, lo_t);
  check_launch("unpack_float16_kernel", grid, kThreads);
}

}  // namespace eckart::compute::cuda
