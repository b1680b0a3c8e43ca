#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"

namespace eckart::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr double kNothing = 1e-28;  // a share of the largest eigenvalue that is rounding's

__global__ void __launch_bounds__(kThreads)
    whiten_kernel(double* __restrict__ w_ll, const double* __restrict__ ascending, int l, int k,
                  double* __restrict__ descending, int stride) {
  const int column = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (column >= l) return;
  const double* values = ascending + std::size_t(blockIdx.y) * std::size_t(l);
  const double value = fmax(values[column], 0.0);
  if (lane == 0)
    descending[std::size_t(blockIdx.y) * std::size_t(stride) + std::size_t(l - 1 - column)] = value;
  if (column < l - k) return;
  const double scale = value > kNothing * values[l - 1] ? 1 / sqrt(value) : 0.0;
  double* w =
      w_ll + (std::size_t(blockIdx.y) * std::size_t(l) + std::size_t(column)) * std::size_t(l);
  for (int row = lane; row < l; row += 32) w[row] *= scale;
}

__global__ void __launch_bounds__(kThreads)
    squared_lengths_kernel(const double* __restrict__ v_nk, int n, int k,
                           double* __restrict__ lengths, int stride) {
  const int column = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (column >= k) return;
  const double* v =
      v_nk + (std::size_t(blockIdx.y) * std::size_t(k) + std::size_t(column)) * std::size_t(n);
  double sum = 0;
  for (int row = lane; row < n; row += 32) sum += v[row] * v[row];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  if (lane == 0)
    lengths[std::size_t(blockIdx.y) * std::size_t(stride) + std::size_t(k - 1 - column)] = sum;
}

dim3 grid(int columns, int count) {
  return {unsigned(columns + kWarps - 1) / kWarps, unsigned(count)};
}

}  // namespace

void whiten(double* w_ll, const double* ascending, int l, int k, double* descending, int stride,
            int count, cudaStream_t stream) {
  whiten_kernel<<<grid(l, count), kThreads, 0, stream>>>(w_ll, ascending, l, k, descending, stride);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

void squared_lengths(const double* v_nk, int n, int k, double* lengths, int stride, int count,
                     cudaStream_t stream) {
  squared_lengths_kernel<<<grid(k, count), kThreads, 0, stream>>>(v_nk, n, k, lengths, stride);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

}  // namespace eckart::cuda
