#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/unpack_halves.hpp"

namespace eckart::cuda {
namespace {

constexpr int kTile = 64;  // a block moves a kTile x kTile tile, through shared memory to turn it
constexpr int kThreads = 256;

__device__ float load(const std::byte* pixels, const Plane& plane, int i, int j) {
  if (i >= plane.m() || j >= plane.n()) return 0;
  const std::byte* image = pixels + plane.offset_bytes;
  const std::int64_t index = plane.sample(i, j);
  return plane.sample_bytes == 1
             ? float(reinterpret_cast<const std::uint8_t*>(image)[index])
             : float(half_scale(2)) * float(reinterpret_cast<const std::uint16_t*>(image)[index]);
}

__global__ void __launch_bounds__(kThreads)
    unpack_halves_kernel(const std::byte* __restrict__ pixels, const Plane* __restrict__ planes,
                         int m, int n, __half* __restrict__ hi_t, __half* __restrict__ lo_t) {
  __shared__ __half hi[kTile][kTile + 2], lo[kTile][kTile + 2];
  const Plane plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  const bool wide = plane.rows < plane.cols;
  for (int at = int(threadIdx.x); at < kTile * kTile; at += kThreads) {
    const int slow = at / kTile, fast = at % kTile;  // neighbouring threads, neighbouring samples
    const int i = wide ? fast : slow, j = wide ? slow : fast;
    const float value = load(pixels, plane, i0 + i, j0 + j);
    hi[i][j] = __float2half_rn(value);
    if (lo_t) lo[i][j] = __float2half_rn(value - __half2float(hi[i][j]));
  }
  __syncthreads();
  const std::size_t matrix = std::size_t(blockIdx.z) * std::size_t(m) * std::size_t(n);
  for (int at = int(threadIdx.x); at < kTile * kTile / 2; at += kThreads) {
    const int y = at / (kTile / 2), x = at % (kTile / 2) * 2, i = i0 + y, j = j0 + x;
    if (i >= m || j >= n) continue;
    const std::size_t to = matrix + std::size_t(i) * std::size_t(n) + std::size_t(j);
    *reinterpret_cast<__half2*>(hi_t + to) = *reinterpret_cast<const __half2*>(&hi[y][x]);
    if (lo_t) *reinterpret_cast<__half2*>(lo_t + to) = *reinterpret_cast<const __half2*>(&lo[y][x]);
  }
}

}  // namespace

void unpack_halves(const std::byte* pixels, const Plane* planes, int count, int m, int n,
                   __half* hi_t, __half* lo_t, cudaStream_t stream) {
  const dim3 grid(unsigned(n + kTile - 1) / kTile, unsigned(m + kTile - 1) / kTile,
                  unsigned(count));
  unpack_halves_kernel<<<grid, kThreads, 0, stream>>>(pixels, planes, m, n, hi_t, lo_t);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

}  // namespace eckart::cuda
