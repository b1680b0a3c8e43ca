#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

namespace eckart::cuda {

/// Throw on failure, with the call's text: DeviceLostError where the error leaves the context
/// unusable, OutOfMemory, or std::runtime_error.
void check(cudaError_t status, const char* call);
void check(cublasStatus_t status, const char* call);
void check(cusolverStatus_t status, const char* call);

}  // namespace eckart::cuda

#define ECKART_CUDA_CHECK(call) ::eckart::cuda::check((call), #call)
