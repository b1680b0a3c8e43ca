#include <stdexcept>
#include <string>

#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/orthonormalizer.hpp"

namespace eckart::cuda {
namespace {

constexpr float kShift = 1e-5F;

template <int kSide, int kEach>
__global__ void __launch_bounds__(kSide* kSide)
    orthonormalizer_kernel(const float* __restrict__ s_ll, int l, SmallMatrix m_ll) {
  __shared__ EliminationShared shared;
  __shared__ float inverse[kMostSmall], power[kMostSmall];
  const std::size_t matrix = std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  const float* s = s_ll + matrix;
  for (int i = int(threadIdx.x); i < l; i += kSide * kSide) {
    const float length = sqrtf(fmaxf(s[i * l + i], 0.0F));
    inverse[i] = length > 0 ? 1.0F / length : 0.0F;
    power[i] = power_of_two_below(length);
    m_ll.scale[int(blockIdx.x) * l + i] = 1.0F / power[i];
  }
  __syncthreads();
  float w[kEach][kEach];
  for_each_element<kSide, kEach>(l, [&](int a, int b, int i, int c) {
    const float scaled = i == c ? 1.0F + kShift : s[c * l + i] * inverse[i] * inverse[c];
    w[a][b] = scaled;
  });
  eliminate<kSide, kEach>(w, l, 0.1F * kShift, shared, [](int, const float*, float) {});
  // R^-1 (c, i) = inverse(R')(i, c)
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
#pragma unroll
  for (int a = 0; a < kEach; ++a) {
#pragma unroll
    for (int b = 0; b < kEach; ++b) {
      const int i = y + kSide * a, c = x + kSide * b;
      if (i >= l || c >= l) continue;
      const float pivot = shared.pivot[i];
      const float length = pivot > 0.1F * kShift ? rsqrtf(pivot) * power[c] * inverse[c] : 0.0F;
      float value = 0;
      if (c == i) value = length;
      if (b <= a && c < i) value = w[a][b] * length;
      const __half hi = __float2half_rn(value);
      m_ll.hi[matrix + std::size_t(i * l + c)] = hi;
      m_ll.lo[matrix + std::size_t(i * l + c)] = __float2half_rn(value - __half2float(hi));
    }
  }
}

}  // namespace

int most_small_columns() { return kMostSmall; }

void orthonormalizer(const float* s_ll, int l, const SmallMatrix& m_ll, int count,
                     cudaStream_t stream) {
  for_order(l, [&]<int kSide, int kEach>() {
    orthonormalizer_kernel<kSide, kEach>
        <<<unsigned(count), kSide * kSide, 0, stream>>>(s_ll, l, m_ll);
    ECKART_CUDA_CHECK(cudaGetLastError());
  });
}

}  // namespace eckart::cuda
