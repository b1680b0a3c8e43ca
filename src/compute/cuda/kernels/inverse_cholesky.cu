#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/inverse_cholesky.hpp"

namespace eckart::compute::cuda {
namespace {

// Smallest pivots: the squared norm of the part of a unit column that is orthogonal to the columns
// before it. A smaller value is rounding (float64), or cannot be represented by a float32 column.
constexpr double kFloat64Tolerance = 1e-13, kFloat32Tolerance = 1e-6;

/// With `inverse_ll`, S becomes R and `inverse_ll` becomes R^-1. Without it, S becomes R^-1.
template <int kTiles>
__global__ void __launch_bounds__(kThreads)
    cholesky_kernel(double* __restrict__ s_ll, int l, const double* __restrict__ norms, int stride,
                    double min_pivot, float* __restrict__ inverse_ll) {
  extern __shared__ double dynamic[];  // more than the default limit of a kernel
  auto& shared = *reinterpret_cast<EliminationShared<double, kTiles>*>(dynamic);
  __shared__ double norm[kSide * kTiles], inverse_norm[kSide * kTiles];
  const std::size_t matrix = std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  double* s = s_ll + matrix;
  for (int i = int(threadIdx.x); i < l; i += kThreads) {
    // 0 if NaN
    norm[i] = norms ? norms[std::size_t(blockIdx.x) * std::size_t(stride) + std::size_t(i)]
                    : sqrt(fmax(s[i * l + i], 0.0));
    inverse_norm[i] = norm[i] > 0 ? 1 / norm[i] : 0.0;
  }
  __syncthreads();
  double w[kTiles][kTiles];
  fill(w, l, [&](int i, int c) {
    if (i == c && !norms) return 1.0;
    const double scale = inverse_norm[i] * inverse_norm[c];
    return scale > 0 ? s[i * l + c] * scale : 0.0;
  });
  __syncthreads();  // all of S is in registers
  float* r_ll = reinterpret_cast<float*>(s);
  eliminate(w, min_pivot, shared, [&](int, int i, int c, double inverse, double r) {
    if (i >= l || c >= l) return;
    inverse *= inverse_norm[c];
    if (inverse_ll) {
      inverse_ll[matrix + std::size_t(i * l + c)] = float(inverse);
      r_ll[c * l + i] = float(r * norm[c]);
    } else {
      s[i * l + c] = inverse;
    }
  });
}

void launch(double* s_ll, int l, const double* norms, int stride, double min_pivot,
            float* inverse_ll, int count, cudaStream_t stream) {
  dispatch_order(l, [&]<int kTiles>() {
    constexpr int kBytes = sizeof(EliminationShared<double, kTiles>);
    ECKART_CUDA_CHECK(cudaFuncSetAttribute(cholesky_kernel<kTiles>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    cholesky_kernel<kTiles><<<unsigned(count), kThreads, kBytes, stream>>>(s_ll, l, norms, stride,
                                                                           min_pivot, inverse_ll);
    check_launch("cholesky_kernel", unsigned(count), kThreads, kBytes);
  });
}

}  // namespace

void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream, const double* norms,
                      int stride) {
  launch(s_ll, l, norms, stride, kFloat64Tolerance, nullptr, count, stream);
}

void cholesky_float32(double* s_ll, int l, float* inverse_ll, int count, cudaStream_t stream) {
  launch(s_ll, l, nullptr, 0, kFloat32Tolerance, inverse_ll, count, stream);
}

}  // namespace eckart::compute::cuda
