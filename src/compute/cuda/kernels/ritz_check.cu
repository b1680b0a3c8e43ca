#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/ritz_check.hpp"

namespace eckart::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr double kNothing = 1e-14;  // a Ritz value below this share of the largest holds no energy

/// A block a matrix, a warp a Ritz pair.
__global__ void __launch_bounds__(kThreads)
    ritz_check_kernel(RitzPairs pairs, double entries, double tolerance, int* __restrict__ info) {
  __shared__ double moved[kWarps];
  const int n = pairs.n, k = pairs.k, l = pairs.l;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const std::size_t matrix = std::size_t(blockIdx.x) * std::size_t(n) * std::size_t(k);
  const double* values = pairs.values_l + std::size_t(blockIdx.x) * std::size_t(l);
  const double outside = fmax(0.0, values[(l - k) / 2]);
  double sum = 0;
  for (int i = warp; i < k; i += kWarps) {
    const double theta = values[l - k + i];
    const double* v = pairs.v_nk + matrix + std::size_t(i) * std::size_t(n);
    const double* gv = pairs.gv_nk + matrix + std::size_t(i) * std::size_t(n);
    double squared = 0;
    for (int row = lane; row < n; row += 32) {
      const double r = gv[row] - theta * v[row];
      squared += r * r;
    }
    for (int half = 16; half > 0; half /= 2) squared += __shfl_xor_sync(0xffffffffU, squared, half);
    if (theta <= kNothing * values[l - 1]) continue;
    const double gap = theta - outside;
    sum += gap > 0 ? theta * squared / (gap * gap) : INFINITY;
  }
  if (lane == 0) moved[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double total = 0;
    for (int w = 0; w < kWarps; ++w) total += moved[w];
    const bool settled = sqrt(total / entries) <= tolerance;  // false for NaN
    if (!settled && info[blockIdx.x] == 0) info[blockIdx.x] = 1;
  }
}

}  // namespace

void ritz_check(const RitzPairs& pairs, double entries, double tolerance, int count, int* info,
                cudaStream_t stream) {
  ritz_check_kernel<<<unsigned(count), kThreads, 0, stream>>>(pairs, entries, tolerance, info);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

}  // namespace eckart::cuda
