#include "tests/backend/cuda/bench/peaks.hpp"

#include "bench/cuda/random_fill.hpp"

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kSide = 8192;
constexpr std::size_t kElements = std::size_t(kSide) * kSide;

template <class Real>
void fill(const DeviceArray<Real>& array) {
  eckart::bench::cuda::fill_randomly(array.get(), array.size());
}

double copied_per_s(const Handles& handles, const KernelTimer& timer) {
  constexpr std::size_t kBytes = std::size_t(1) << 30;
  const DeviceArray<float> from(kBytes / sizeof(float)), to(from.size());
  fill(from);
  const double us = timer
                        .microseconds({[&] {
                                         ECKART_CUDA_CHECK(cudaMemcpyAsync(
                                             to.get(), from.get(), kBytes, cudaMemcpyDeviceToDevice,
                                             handles.stream));
                                       },
                                       {}})
                        .min;
  return 2e6 * double(kBytes) / us;
}

/// Flops per second of the square product that multiply(a, b, c) queues.
template <class Real, class Result, class Multiply>
double multiplied_per_s(const KernelTimer& timer, Multiply multiply) {
  const DeviceArray<Real> a(kElements), b(kElements);
  const DeviceArray<Result> c(kElements);
  fill(a);
  fill(b);
  const QueuedWork product{[&] { multiply(a.get(), b.get(), c.get()); }, {}};
  return 2e6 * double(kElements) * kSide / timer.microseconds(product).min;
}

double shared_bytes_per_s() {
  int device = 0, khz = 0, processors = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device));
  ECKART_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  return 1e3 * khz * processors * 128;
}

}  // namespace

Peaks measure_peaks(const Handles& handles, const KernelTimer& timer) {
  constexpr auto kPlain = CUBLAS_OP_N;
  Peaks peaks;
  peaks[RooflineBound::memory] = copied_per_s(handles, timer);
  peaks[RooflineBound::tensor] =
      multiplied_per_s<__half, __half>(timer, [&](auto* a, auto* b, auto* c) {
        const float one = 1, zero = 0;
        ECKART_CUDA_CHECK(cublasGemmEx(handles.blas, kPlain, kPlain, kSide, kSide, kSide, &one, a,
                                       CUDA_R_16F, kSide, b, CUDA_R_16F, kSide, &zero, c,
                                       CUDA_R_16F, kSide, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
      });
  peaks[RooflineBound::float64] =
      multiplied_per_s<double, double>(timer, [&](auto* a, auto* b, auto* c) {
        const double one = 1, zero = 0;
        ECKART_CUDA_CHECK(cublasDgemm(handles.blas, kPlain, kPlain, kSide, kSide, kSide, &one, a,
                                      kSide, b, kSide, &zero, c, kSide));
      });
  peaks[RooflineBound::float32] =
      multiplied_per_s<float, float>(timer, [&](auto* a, auto* b, auto* c) {
        const float one = 1, zero = 0;
        ECKART_CUDA_CHECK(cublasSgemm(handles.blas, kPlain, kPlain, kSide, kSide, kSide, &one, a,
                                      kSide, b, kSide, &zero, c, kSide));
      });
  peaks[RooflineBound::shared] = shared_bytes_per_s();
  return peaks;
}

}  // namespace eckart::compute::cuda::bench
