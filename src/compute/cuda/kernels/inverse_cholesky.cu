#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/inverse_cholesky.hpp"

namespace eckart::cuda {
namespace {

constexpr double kDependent = 1e-13;  // of a unit diagonal: what is left of it is rounding

template <int kEach>
__global__ void __launch_bounds__(kThreads)
    inverse_cholesky_kernel(double* __restrict__ s_ll, int l) {
  extern __shared__ double dynamic[];  // more than a kernel gets without asking
  auto& shared = *reinterpret_cast<EliminationShared<double, kEach>*>(dynamic);
  __shared__ double inverse[kSide * kEach];
  double* s = s_ll + std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  for (int i = int(threadIdx.x); i < l; i += kThreads) {
    const double squared = s[i * l + i];
    inverse[i] = squared > 0 ? 1 / sqrt(squared) : 0.0;
  }
  __syncthreads();
  double w[kEach][kEach];
  fill(w, l, [&](int i, int c) { return i == c ? 1.0 : s[i * l + c] * inverse[i] * inverse[c]; });
  __syncthreads();  // all of S is in registers
  eliminate(w, kDependent, shared, [&](int, int i, int c, double inverse_r, double) {
    if (i < l && c < l) s[i * l + c] = inverse_r * inverse[c];
  });
}

}  // namespace

void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream) {
  for_order(l, [&]<int kEach>() {
    constexpr int kBytes = sizeof(EliminationShared<double, kEach>);
    ECKART_CUDA_CHECK(cudaFuncSetAttribute(inverse_cholesky_kernel<kEach>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    inverse_cholesky_kernel<kEach><<<unsigned(count), kThreads, kBytes, stream>>>(s_ll, l);
    ECKART_CUDA_CHECK(cudaGetLastError());
  });
}

}  // namespace eckart::cuda
