#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/refine.hpp"

namespace eckart::cuda {
namespace {

constexpr int kThreads = 256;  // a warp a column
constexpr int kWarps = kThreads / 32;

__global__ void __launch_bounds__(kThreads)
    refine_kernel(const float* __restrict__ v_parts, int n, int columns,
                  __half* __restrict__ v_split, double* __restrict__ squared_lengths, int stride) {
  const int column = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32;
  const int lane = int(threadIdx.x) % 32;
  if (column >= columns) return;
  const std::size_t block = std::size_t(n) * std::size_t(columns);
  const std::size_t start = 2 * block * blockIdx.y + std::size_t(column) * std::size_t(n);
  double sum = 0;
  for (int row = 2 * lane; row < n; row += 64) {
    const std::size_t at = start + std::size_t(row);
    const float2 a = *reinterpret_cast<const float2*>(v_parts + at);
    const float2 b = *reinterpret_cast<const float2*>(v_parts + block + at);
    const float2 value{a.x + b.x, a.y + b.y};
    sum += double(value.x) * value.x + double(value.y) * value.y;
    const __half2 hi = __float22half2_rn(value);
    const float2 kept = __half22float2(hi);
    *reinterpret_cast<__half2*>(v_split + at) = hi;
    *reinterpret_cast<__half2*>(v_split + block + at) =
        __float22half2_rn(float2{value.x - kept.x, value.y - kept.y});
  }
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  if (lane == 0) squared_lengths[std::size_t(blockIdx.y) * std::size_t(stride) + column] = sum;
}

}  // namespace

void refine(const float* v_parts, int n, int columns, __half* v_split, double* squared_lengths,
            int stride, int count, cudaStream_t stream) {
  refine_kernel<<<dim3(unsigned(columns + kWarps - 1) / kWarps, unsigned(count)), kThreads, 0,
                  stream>>>(v_parts, n, columns, v_split, squared_lengths, stride);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

}  // namespace eckart::cuda
