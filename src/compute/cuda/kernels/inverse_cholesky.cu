#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/inverse_cholesky.hpp"

namespace eckart::cuda {
namespace {

// What is left of a column of unit length, squared, when what it shares with those before it is
// taken off: where it is less, rounding has made it, or float32 cannot tell the two apart.
constexpr double kRounding = 1e-13, kFloatsRounding = 1e-6;

/// Without `inverse_ll`, S becomes its R^-1; with it, R.
template <int kEach>
__global__ void __launch_bounds__(kThreads)
    cholesky_kernel(double* __restrict__ s_ll, int l, const double* __restrict__ lengths,
                    int stride, double least, float* __restrict__ inverse_ll) {
  extern __shared__ double dynamic[];  // more than a kernel gets without asking
  auto& shared = *reinterpret_cast<EliminationShared<double, kEach>*>(dynamic);
  __shared__ double length[kSide * kEach], inverse_length[kSide * kEach];
  const std::size_t matrix = std::size_t(blockIdx.x) * std::size_t(l) * std::size_t(l);
  double* s = s_ll + matrix;
  for (int i = int(threadIdx.x); i < l; i += kThreads) {
    length[i] = lengths ? lengths[std::size_t(blockIdx.x) * std::size_t(stride) + std::size_t(i)]
                        : sqrt(fmax(s[i * l + i], 0.0));  // nothing where that is no number
    inverse_length[i] = length[i] > 0 ? 1 / length[i] : 0.0;
  }
  __syncthreads();
  double w[kEach][kEach];
  fill(w, l, [&](int i, int c) {
    if (i == c && !lengths) return 1.0;
    const double scale = inverse_length[i] * inverse_length[c];
    return scale > 0 ? s[i * l + c] * scale : 0.0;
  });
  __syncthreads();  // all of S is in registers
  float* r_ll = reinterpret_cast<float*>(s);
  eliminate(w, least, shared, [&](int, int i, int c, double inverse, double r) {
    if (i >= l || c >= l) return;
    inverse *= inverse_length[c];
    if (inverse_ll) {
      inverse_ll[matrix + std::size_t(i * l + c)] = float(inverse);
      r_ll[c * l + i] = float(r * length[c]);
    } else {
      s[i * l + c] = inverse;
    }
  });
}

void launch(double* s_ll, int l, const double* lengths, int stride, double least, float* inverse_ll,
            int count, cudaStream_t stream) {
  for_order(l, [&]<int kEach>() {
    constexpr int kBytes = sizeof(EliminationShared<double, kEach>);
    ECKART_CUDA_CHECK(cudaFuncSetAttribute(cholesky_kernel<kEach>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    cholesky_kernel<kEach><<<unsigned(count), kThreads, kBytes, stream>>>(s_ll, l, lengths, stride,
                                                                          least, inverse_ll);
    ECKART_CUDA_CHECK(cudaGetLastError());
  });
}

}  // namespace

void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream, const double* lengths,
                      int stride) {
  launch(s_ll, l, lengths, stride, kRounding, nullptr, count, stream);
}

void cholesky_to_float(double* s_ll, int l, float* inverse_ll, int count, cudaStream_t stream) {
  launch(s_ll, l, nullptr, 0, kFloatsRounding, inverse_ll, count, stream);
}

}  // namespace eckart::cuda
