#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>

namespace eckart::compute::cuda {

/// The source location of a call. Replaces std::source_location, which nvcc 12 supports only in
/// part.
struct CallSite {
  const char* file;
  int line;
  static constexpr CallSite current(const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Every check throws on failure: DeviceLostError if the context is unusable, OutOfMemory, or
// std::runtime_error. The message is one line with the error, the call, file and line, and the size
// of the request if it is known. If device memory ran out, the message ends with the free memory.
// OutOfMemory::kind() is MemoryKind::pinned_host only after check_pinned_allocation().

void check(cudaError_t status, const char* call, CallSite site = CallSite::current());
void check(cublasStatus_t status, const char* call, CallSite site = CallSite::current());
void check(cusolverStatus_t status, const char* call, CallSite site = CallSite::current());

/// The matrices of a library call: `count` matrices of m x n. `inner` is the inner dimension if the
/// call multiplies matrices, otherwise 0.
struct MatrixBatch {
  int m, n, count;
  int inner = 0;
};

/// For a library call on a batch of matrices.
void check_batch(cublasStatus_t status, const char* call, const MatrixBatch& batch,
                 CallSite site = CallSite::current());
void check_batch(cusolverStatus_t status, const char* call, const MatrixBatch& batch,
                 CallSite site = CallSite::current());

/// For a copy of `bytes` bytes.
void check_copy(cudaError_t status, const char* call, std::size_t bytes,
                CallSite site = CallSite::current());

/// For an allocation of `bytes` bytes.
void check_device_allocation(cudaError_t status, const char* call, std::size_t bytes,
                             CallSite site = CallSite::current());
void check_pinned_allocation(cudaError_t status, const char* call, std::size_t bytes,
                             CallSite site = CallSite::current());

/// For the kernel launch directly before it.
void check_launch(const char* kernel, dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                  CallSite site = CallSite::current());

}  // namespace eckart::compute::cuda

#define ECKART_CUDA_CHECK(call) ::eckart::compute::cuda::check((call), #call)
#define ECKART_CUDA_CHECK_COPY(call, bytes) \
  ::eckart::compute::cuda::check_copy((call), #call, (bytes))
/// Example: ECKART_CUDA_CHECK_BATCH(cublasDgemmStridedBatched(...), m, n, count, inner)
#define ECKART_CUDA_CHECK_BATCH(call, ...) \
  ::eckart::compute::cuda::check_batch((call), #call, {__VA_ARGS__})
