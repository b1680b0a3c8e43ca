// What libeckart_cuda.so exports; src/app/make_backend.cpp loads it.
#include "build_id/build_id.hpp"
#include "compute/cuda/cuda_backend.hpp"

#define ECKART_EXPORT extern "C" __attribute__((visibility("default")))

/// The caller compares it with its own before it calls anything else here.
ECKART_EXPORT const char* eckart_cuda_build_id() { return eckart::build_id(); }

/// Makes the CUDA backend; the caller owns it. Throws FatalError.
ECKART_EXPORT eckart::Backend* eckart_make_cuda_backend(const eckart::BackendOptions& options) {
  return eckart::cuda::make_cuda_backend(options).release();
}
