// The exported functions of libeckart_cuda.so. src/app/make_backend.cpp loads them.
#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"
#include "compute/cuda/cuda_backend.hpp"

/// The caller must compare this with its own build ID before it calls any other function.
ECKART_MODULE_EXPORT const char* eckart_cuda_build_id() { return eckart::build_id(); }

/// Creates the CUDA backend; the caller owns it. Throws FatalError.
ECKART_MODULE_EXPORT eckart::compute::Backend* eckart_make_cuda_backend(
    const eckart::compute::BackendOptions& options) {
  return eckart::compute::cuda::make_cuda_backend(options).release();
}
