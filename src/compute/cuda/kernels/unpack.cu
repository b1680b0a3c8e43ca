#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {
namespace {

// a block copies a kTile x kTile tile through shared memory, which transposes wide planes
constexpr int kTile = 32;
constexpr int kRows = 8;  // kTile x kRows threads

__device__ double load(const std::byte* pixels, const PlaneLayout& plane, int i, int j) {
  if (i >= plane.m() || j >= plane.n()) return 0.0;
  const std::byte* image = pixels + plane.offset_bytes;
  const std::int64_t index = plane.element_index(i, j);
  switch (plane.sample_bytes) {
    case 1:
      return double(reinterpret_cast<const std::uint8_t*>(image)[index]);
    case 2:
      return double(reinterpret_cast<const std::uint16_t*>(image)[index]);
    default:
      return plane.scale * double(reinterpret_cast<const float*>(image)[index]);
  }
}

__global__ void unpack_kernel(const std::byte* __restrict__ pixels,
                              const PlaneLayout* __restrict__ planes, int m, int n,
                              double* __restrict__ a_t) {
  __shared__ double tile[kTile][kTile + 1];
  const PlaneLayout plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  const int x = int(threadIdx.x);
  const bool is_wide = plane.rows < plane.cols;
  // Neighboring threads read neighboring samples.
  for (int y = int(threadIdx.y); y < kTile; y += kRows) {
    const int i = is_wide ? x : y, j = is_wide ? y : x;
    tile[i][j] = load(pixels, plane, i0 + i, j0 + j);
  }
  __syncthreads();
  double* out = a_t + std::size_t(blockIdx.z) * std::size_t(m) * std::size_t(n);
  for (int y = int(threadIdx.y); y < kTile; y += kRows) {
    const int i = i0 + y, j = j0 + x;
    if (i < m && j < n) out[std::size_t(i) * std::size_t(n) + std::size_t(j)] = tile[y][x];
  }
}

}  // namespace

cudaError_t device_code_status() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, unpack_kernel);
}

void unpack(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
            double* a_t, cudaStream_t stream) {
  const dim3 grid(unsigned(tile_count(n, kTile)), unsigned(tile_count(m, kTile)), unsigned(count));
  const dim3 block(kTile, kRows);
  unpack_kernel<<<grid, block, 0, stream>>>(pixels, planes, m, n, a_t);
  check_launch("unpack_kernel", grid, block);
}

}  // namespace eckart::compute::cuda
