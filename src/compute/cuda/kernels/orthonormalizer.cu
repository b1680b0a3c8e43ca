#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/orthonormalizer.hpp"

namespace eckart::compute::cuda {
namespace {

// Largest entry of M. Entries are near 1, unless a column nearly depends on those before it. Larger
// entries are rounding and may overflow float16, so their column becomes zero.
constexpr float kMaxEntry = 8192;

template <int kTiles>
__global__ void __launch_bounds__(kThreads)
    orthonormalizer_kernel(const float* __restrict__ s_ll, int l, PivotLimits limits,
                           SmallMatrix m_ll) {
  __shared__ EliminationShared<float, kTiles> shared;
  __shared__ float inverse_norm[kSide * kTiles], power[kSide * kTiles];
  __shared__ int dropped[kSide * kTiles];
  const std::size_t matrix = std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  const float* s = s_ll + matrix;
  for (int i = int(threadIdx.x); i < l; i += kThreads) {
    const float norm = sqrtf(fmaxf(s[i * l + i], 0.0F));
    inverse_norm[i] = norm > 0 ? 1.0F / norm : 0.0F;
    power[i] = power_of_two_below(norm);
    m_ll.scale[int(blockIdx.x) * l + i] = 1.0F / power[i];
    dropped[i] = 0;
  }
  __syncthreads();
  float w[kTiles][kTiles];
  fill(w, l, [&](int i, int c) {
    return i == c ? 1.0F + limits.shift : s[i * l + c] * inverse_norm[i] * inverse_norm[c];
  });
  eliminate(w, limits.min, shared, [&](int, int i, int c, float inverse_r, float) {
    if (i >= l || c >= l) return;
    const float value = inverse_r * power[c] * inverse_norm[c];
    if (!(fabsf(value) <= kMaxEntry)) atomicOr(&dropped[i], 1);
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

void orthonormalizer(const float* s_ll, int l, PivotLimits limits, const SmallMatrix& m_ll,
                     int count, cudaStream_t stream) {
  dispatch_order(l, [&]<int kTiles>() {
    orthonormalizer_kernel<kTiles><<<unsigned(count), kThreads, 0, stream>>>(s_ll, l, limits, m_ll);
    check_launch("orthonormalizer_kernel", unsigned(count), kThreads);
  });
}

}  // namespace eckart::compute::cuda
