#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/orthonormalizer.hpp"

namespace eckart::cuda {
namespace {

// Of M's entries, which are near 1 but for columns that are nearly dependent on those before them.
// What is more is rounding's, and may soon be beyond float16: its column becomes nothing.
constexpr float kLargest = 8192;

template <int kEach>
__global__ void __launch_bounds__(kThreads)
    orthonormalizer_kernel(const float* __restrict__ s_ll, int l, float shift, SmallMatrix m_ll) {
  __shared__ EliminationShared<float, kEach> shared;
  __shared__ float inverse[kSide * kEach], power[kSide * kEach];
  __shared__ int dropped[kSide * kEach];
  const std::size_t matrix = std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  const float* s = s_ll + matrix;
  for (int i = int(threadIdx.x); i < l; i += kThreads) {
    const float length = sqrtf(fmaxf(s[i * l + i], 0.0F));
    inverse[i] = length > 0 ? 1.0F / length : 0.0F;
    power[i] = power_of_two_below(length);
    m_ll.scale[int(blockIdx.x) * l + i] = 1.0F / power[i];
    dropped[i] = 0;
  }
  __syncthreads();
  float w[kEach][kEach];
  fill(w, l, [&](int i, int c) {
    return i == c ? 1.0F + shift : s[i * l + c] * inverse[i] * inverse[c];
  });
  eliminate(w, 0.1F * shift, shared, [&](int, int i, int c, float inverse_r, float) {
    if (i >= l || c >= l) return;
    const float value = inverse_r * power[c] * inverse[c];
    if (!(fabsf(value) <= kLargest)) atomicOr(&dropped[i], 1);
    const __half hi = __float2half_rn(value);
    m_ll.hi[matrix + std::size_t(i * l + c)] = hi;
    m_ll.lo[matrix + std::size_t(i * l + c)] = __float2half_rn(value - __half2float(hi));
  });
  __syncthreads();
  for (int i = int(threadIdx.x) / 32; i < l; i += kThreads / 32) {
    if (dropped[i] == 0) continue;
    for (int c = int(threadIdx.x) % 32; c < l; c += 32) {
      m_ll.hi[matrix + std::size_t(i * l + c)] = __half(0);
      m_ll.lo[matrix + std::size_t(i * l + c)] = __half(0);
    }
  }
}

}  // namespace

void orthonormalizer(const float* s_ll, int l, float shift, const SmallMatrix& m_ll, int count,
                     cudaStream_t stream) {
  for_order(l, [&]<int kEach>() {
    orthonormalizer_kernel<kEach><<<unsigned(count), kThreads, 0, stream>>>(s_ll, l, shift, m_ll);
    ECKART_CUDA_CHECK(cudaGetLastError());
  });
}

}  // namespace eckart::cuda
