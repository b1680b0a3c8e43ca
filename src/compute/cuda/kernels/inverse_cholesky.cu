#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/inverse_cholesky.hpp"

namespace eckart::cuda {
namespace {

constexpr int kThreads = 256;
constexpr double kDependent =
    1e-13;  // a pivot below this share of its diagonal element is rounding

/// Gauss-Jordan in place, a block a matrix. Elimination turns S into D U, with unit upper U, and
/// the space below the diagonal, as it is freed, takes the inverse of the unit lower factor U'.
__global__ void __launch_bounds__(kThreads)
    inverse_cholesky_kernel(double* __restrict__ s_ll, int l) {
  extern __shared__ double shared[];
  const int stride = l + 1;         // odd banks for columns
  double* a = shared;               // l x stride
  double* factor = a + l * stride;  // this step's multipliers
  double* diagonal = factor + l;    // of S, as it came
  double* global = s_ll + std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  const int thread = int(threadIdx.x);
  for (int at = thread; at < l * l; at += kThreads) a[(at / l) * stride + at % l] = global[at];
  __syncthreads();
  for (int i = thread; i < l; i += kThreads) diagonal[i] = a[i * stride + i];
  __syncthreads();
  for (int j = 0; j < l; ++j) {
    const double pivot = a[j * stride + j];
    const bool independent = pivot > kDependent * diagonal[j];
    for (int i = j + 1 + thread; i < l; i += kThreads) {
      factor[i] = independent ? a[i * stride + j] / pivot : 0.0;
    }
    __syncthreads();
    const int rows = l - j - 1;
    for (int at = thread; at < rows * l; at += kThreads) {
      const int i = j + 1 + at / l, c = at % l;
      const double f = factor[i];
      a[i * stride + c] = c == j ? -f : a[i * stride + c] - f * a[j * stride + c];
    }
    __syncthreads();
  }
  // R^-1 (c, i) = (L^-1)(i, c), L^-1 = D^-1/2 times the unit factor's inverse
  for (int at = thread; at < l * l; at += kThreads) {
    const int i = at / l, c = at % l;  // column i, row c
    const double pivot = a[i * stride + i];
    const double scale = pivot > kDependent * diagonal[i] ? rsqrt(pivot) : 0.0;
    global[at] = c < i ? scale * a[i * stride + c] : c == i ? scale : 0.0;
  }
}

std::size_t shared_bytes(int l) {
  return (std::size_t(l) * std::size_t(l + 1) + 2 * std::size_t(l)) * sizeof(double);
}

}  // namespace

int most_inverse_cholesky(int device) {
  int most_bytes = 0, l = 0;
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  while (shared_bytes(l + 1) <= std::size_t(most_bytes)) ++l;
  return l;
}

void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream) {
  const std::size_t bytes = shared_bytes(l);
  ECKART_CUDA_CHECK(cudaFuncSetAttribute(inverse_cholesky_kernel,
                                         cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
  inverse_cholesky_kernel<<<unsigned(count), kThreads, bytes, stream>>>(s_ll, l);
  ECKART_CUDA_CHECK(cudaGetLastError());
}

}  // namespace eckart::cuda
