#include "bench/cuda/library_variants.hpp"

#include <memory>
#include <utility>

namespace eckart::bench::cuda {
namespace {

using compute::cuda::DeviceBuffer;

constexpr auto kPlain = CUBLAS_OP_N;
constexpr auto kTransposed = CUBLAS_OP_T;

// One name for each function in both precisions.
auto gemm(cublasHandle_t blas, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
          const float* alpha, const float* a, int lda, const float* b, int ldb, const float* beta,
          float* c, int ldc) {
  return cublasSgemm(blas, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
auto gemm(cublasHandle_t blas, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
          const double* alpha, const double* a, int lda, const double* b, int ldb,
          const double* beta, double* c, int ldc) {
  return cublasDgemm(blas, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
auto dgmm(cublasHandle_t blas, int m, int n, const float* a, int lda, const float* x, float* c) {
  return cublasSdgmm(blas, CUBLAS_SIDE_RIGHT, m, n, a, lda, x, 1, c, lda);
}
auto dgmm(cublasHandle_t blas, int m, int n, const double* a, int lda, const double* x, double* c) {
  return cublasDdgmm(blas, CUBLAS_SIDE_RIGHT, m, n, a, lda, x, 1, c, lda);
}
auto geam(cublasHandle_t blas, int m, int n, const float* one, const float* a, int lda,
          const float* zero, float* c) {
  return cublasSgeam(blas, kTransposed, kPlain, m, n, one, a, lda, zero, c, m, c, m);
}
auto geam(cublasHandle_t blas, int m, int n, const double* one, const double* a, int lda,
          const double* zero, double* c) {
  return cublasDgeam(blas, kTransposed, kPlain, m, n, one, a, lda, zero, c, m, c, m);
}
auto gemv(cublasHandle_t blas, int m, int n, const float* one, const float* a, const float* x,
          const float* zero, float* y) {
  return cublasSgemv(blas, kTransposed, m, n, one, a, m, x, 1, zero, y, 1);
}
auto gemv(cublasHandle_t blas, int m, int n, const double* one, const double* a, const double* x,
          const double* zero, double* y) {
  return cublasDgemv(blas, kTransposed, m, n, one, a, m, x, 1, zero, y, 1);
}

/// The launch of the operation; null if cuBLAS has none. cuBLAS has column-major matrices: a
/// row-major matrix is its transpose there, and C' = B' A'.
template <class Real>
Launch<Real> library_launch(const Shape& shape, cublasHandle_t blas) {
  const int m = shape.m, n = shape.n, k = shape.k;
  switch (shape.operation) {
    case Operation::reconstruct: {
      const auto scaled = std::make_shared<DeviceBuffer>();
      scaled->reserve(std::size_t(n) * std::size_t(k) * sizeof(Real));
      return [=](const std::vector<const Real*>& o, Real* c, cudaStream_t) {
        const Real one = 1, zero = 0;
        Real* const scaled_vt = scaled->as<Real>();
        ECKART_CUDA_CHECK(dgmm(blas, n, k, o[2], n, o[1], scaled_vt));
        ECKART_CUDA_CHECK(
            gemm(blas, kPlain, kPlain, n, m, k, &one, scaled_vt, n, o[0], k, &zero, c, n));
      };
    }
    case Operation::multiply:
      return [=](const std::vector<const Real*>& o, Real* c, cudaStream_t) {
        const Real one = 1, zero = 0;
        ECKART_CUDA_CHECK(gemm(blas, kPlain, kPlain, n, m, k, &one, o[1], n, o[0], k, &zero, c, n));
      };
    case Operation::transpose:
      return [=](const std::vector<const Real*>& o, Real* c, cudaStream_t) {
        const Real one = 1, zero = 0;
        ECKART_CUDA_CHECK(geam(blas, m, n, &one, o[0], n, &zero, c));
      };
    case Operation::multiply_vector:
      return [=](const std::vector<const Real*>& o, Real* c, cudaStream_t) {
        const Real one = 1, zero = 0;
        ECKART_CUDA_CHECK(gemv(blas, n, m, &one, o[0], o[1], &zero, c));
      };
    case Operation::add:
      break;
  }
  return {};
}

const char* function_names(Operation operation) {
  switch (operation) {
    case Operation::reconstruct:
      return "cuBLAS: dgmm, gemm";
    case Operation::multiply:
      return "cuBLAS: gemm";
    case Operation::transpose:
      return "cuBLAS: geam";
    case Operation::multiply_vector:
      return "cuBLAS: gemv";
    case Operation::add:
      break;
  }
  return "";
}

}  // namespace

template <class Real>
std::vector<KernelVariant<Real>> library_variants(const Shape& shape, cublasHandle_t blas) {
  std::vector<KernelVariant<Real>> variants;
  if (Launch<Real> launch = library_launch<Real>(shape, blas)) {
    KernelVariant<Real>& variant = variants.emplace_back();
    variant.variant.name = function_names(shape.operation);
    variant.launch = std::move(launch);
  }
  return variants;
}
template std::vector<KernelVariant<float>> library_variants(const Shape&, cublasHandle_t);
template std::vector<KernelVariant<double>> library_variants(const Shape&, cublasHandle_t);

}  // namespace eckart::bench::cuda
