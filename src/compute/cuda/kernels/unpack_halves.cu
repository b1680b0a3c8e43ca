#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/samples.cuh"
#include "compute/cuda/kernels/unpack_halves.hpp"

namespace eckart::cuda {
namespace {

constexpr int kTile = 64;  // a block moves a kTile x kTile tile, through shared memory to turn it
constexpr int kThreads = 256;

struct Tile {
  __half at[kTile][kTile + 2];
};

/// The tile's samples, turned where the plane is wide; zeros outside.
template <class Samples>
__device__ void load_tile(const std::byte* pixels, const Plane& plane, int i0, int j0, Tile& hi,
                          Tile& lo) {
  const bool wide = plane.rows < plane.cols;
  const int row0 = wide ? j0 : i0, col0 = wide ? i0 : j0;
  constexpr float kScale = float(half_scale(sizeof(Samples)));
  for (int at = int(threadIdx.x); at < kTile * kTile / kGroup; at += kThreads) {
    const auto [row, col] = run_at(at, kTile, kGroup);
    unsigned samples[kGroup];
    load(sample_group<const Samples>(pixels, plane, row0 + row, col0 + col), samples);
#pragma unroll
    for (int e = 0; e < kGroup; ++e) {
      const int i = wide ? col + e : row, j = wide ? row : col + e;
      const float value = kScale * float(samples[e]);
      hi.at[i][j] = __float2half_rn(value);
      if (sizeof(Samples) > 1) lo.at[i][j] = __float2half_rn(value - __half2float(hi.at[i][j]));
    }
  }
}

__device__ void store_tile(const Tile& tile, int m, int n, int i0, int j0, __half* a_t) {
  for (int at = int(threadIdx.x); at < kTile * kTile / 2; at += kThreads) {
    const auto [i, j] = run_at(at, kTile, 2);
    if (i0 + i >= m || j0 + j >= n) continue;
    *reinterpret_cast<__half2*>(a_t + std::size_t(i0 + i) * std::size_t(n) + std::size_t(j0 + j)) =
        *reinterpret_cast<const __half2*>(&tile.at[i][j]);
  }
}

__global__ void __launch_bounds__(kThreads)
    unpack_halves_kernel(const std::byte* __restrict__ pixels, const Plane* __restrict__ planes,
                         int m, int n, __half* __restrict__ hi_t, __half* __restrict__ lo_t) {
  __shared__ Tile hi, lo;
  const Plane plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  const std::size_t matrix = std::size_t(blockIdx.z) * std::size_t(m) * std::size_t(n);
  const bool one_byte = plane.sample_bytes == 1;
  if (one_byte) {
    load_tile<std::uint8_t>(pixels, plane, i0, j0, hi, lo);
    if (lo_t) {
      for (int at = int(threadIdx.x); at < kTile * kTile; at += kThreads)
        lo.at[at / kTile][at % kTile] = __half{};
    }
  } else {
    load_tile<std::uint16_t>(pixels, plane, i0, j0, hi, lo);
  }
  __syncthreads();
  store_tile(hi, m, n, i0, j0, hi_t + matrix);
  if (lo_t) store_tile(lo, m, n, i0, j0, lo_t + matrix);
}

}  // namespace

void unpack_halves(const std::byte* pixels, const Plane* planes, int count, int m, int n,
                   __half* hi_t, __half* lo_t, cudaStream_t stream) {
  const dim3 grid(unsigned(tiles_of(n, kTile)), unsigned(tiles_of(m, kTile)), unsigned(count));
  unpack_halves_kernel<<<grid, kThreads, 0, stream>>>(pixels, planes, m, n, hi_t, lo_t);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

}  // namespace eckart::cuda
