#include "bench/cuda/cache_flush.hpp"

namespace eckart::bench::cuda {
namespace {

using compute::cuda::BlasHandle;

constexpr std::size_t kCacheMultiple = 4;

std::size_t cache_bytes() {
  int device = 0, bytes = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return std::size_t(bytes);
}

}  // namespace

CacheFlush::CacheFlush(cudaStream_t stream)
    : size_(cache_bytes() * kCacheMultiple / sizeof(float)),
      blas_(ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2)) {
  values_.reserve(size_ * sizeof(float));
  sum_.reserve(sizeof(float));
  ECKART_CUDA_CHECK(cudaMemset(values_.as<void>(), 0, size_ * sizeof(float)));
  ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream));
  ECKART_CUDA_CHECK(cublasSetPointerMode(blas_.get(), CUBLAS_POINTER_MODE_DEVICE));
}

void CacheFlush::queue() const {
  ECKART_CUDA_CHECK(cublasSasum(blas_.get(), int(size_), values_.as<float>(), 1, sum_.as<float>()));
}

}  // namespace eckart::bench::cuda
