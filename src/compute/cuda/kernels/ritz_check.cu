#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/ritz_check.hpp"

namespace eckart::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr double kNothing =
    1e-14;  // a share of the largest Ritz value, or of the trace, that is rounding

/// Sums over a warp; every lane gets it.
__device__ double sum_over_warp(double value) {
  for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffU, value, half);
  return value;
}

/// What the space has missed, if some of the k pairs hold nothing: each of these might have been
/// there instead.
__device__ double missed(const RitzPairs& pairs, const double* values, int lane) {
  const int n = pairs.n, l = pairs.l;
  if (values[l - pairs.k] > kNothing * values[l - 1]) return 0;
  const double* g = pairs.g_nn + std::size_t(blockIdx.x) * std::size_t(n) * std::size_t(n);
  double trace = 0, found = 0;
  for (int i = lane; i < n; i += 32) trace += g[std::size_t(i) * std::size_t(n + 1)];
  for (int i = lane; i < l; i += 32) found += values[i];
  trace = sum_over_warp(trace);
  const double left = trace - sum_over_warp(found);
  return left > kNothing * trace ? left : 0;
}

/// theta r^2 / (theta - mu)^2 of the i-th of the k pairs; `outside` is mu.
__device__ double moved_by(const RitzPairs& pairs, const double* values, int i, double outside,
                           int lane) {
  const int n = pairs.n, k = pairs.k, l = pairs.l;
  const double theta = values[l - k + i];
  if (theta <= kNothing * values[l - 1]) return 0;
  const std::size_t column =
      (std::size_t(blockIdx.x) * std::size_t(k) + std::size_t(i)) * std::size_t(n);
  double squared = 0;
  for (int row = lane; row < n; row += 32) {
    const double r = pairs.gv_nk[column + row] - theta * pairs.v_nk[column + row];
    squared += r * r;
  }
  const double gap = theta - outside;
  return gap > 0 ? theta * sum_over_warp(squared) / (gap * gap) : INFINITY;
}

/// A block a matrix, a warp a Ritz pair.
__global__ void __launch_bounds__(kThreads)
    ritz_check_kernel(RitzPairs pairs, double entries, double tolerance, int* __restrict__ info) {
  __shared__ double moved[kWarps];
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const double* values = pairs.values_l + std::size_t(blockIdx.x) * std::size_t(pairs.l);
  const double outside = fmax(0.0, values[(pairs.l - pairs.k) / 2]);
  double sum = warp == 0 ? missed(pairs, values, lane) : 0;
  for (int i = warp; i < pairs.k; i += kWarps) sum += moved_by(pairs, values, i, outside, lane);
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
