#include "compute/cuda/check.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

#include "compute/out_of_memory.hpp"
#include "core/error.hpp"

namespace eckart::cuda {
namespace {

/// Whether so little memory is left that a library's error that names no cause is for want of it:
/// so fail code that is loaded when it is first used and buffers of the library's own.
bool memory_is_short() {
  constexpr std::size_t kLittle = std::size_t(256) << 20;
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess && free < kLittle;
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  const std::string message = std::string("CUDA error ") + std::to_string(int(status)) + " (" +
                              cudaGetErrorString(status) + ") from " + call;
  static_cast<void>(cudaGetLastError());  // so that the next launch does not report it again
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  // An error that stays has left the context unusable, whatever its number.
  if (cudaDeviceSynchronize() != cudaSuccess) throw FatalError(ExitCode::temporary, message);
  throw std::runtime_error(message);
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  check(cudaPeekAtLastError(), call);
  const std::string message = std::string(cublasGetStatusName(status)) + " from " + call;
  const bool names_no_cause = status == CUBLAS_STATUS_INTERNAL_ERROR ||
                              status == CUBLAS_STATUS_NOT_INITIALIZED ||
                              status == CUBLAS_STATUS_EXECUTION_FAILED;
  if (status == CUBLAS_STATUS_ALLOC_FAILED || (names_no_cause && memory_is_short()))
    throw OutOfMemory(message);
  throw std::runtime_error(message);
}

void check(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  check(cudaPeekAtLastError(), call);
  const std::string message = "cuSOLVER status " + std::to_string(int(status)) + " from " + call;
  const bool names_no_cause = status == CUSOLVER_STATUS_INTERNAL_ERROR ||
                              status == CUSOLVER_STATUS_NOT_INITIALIZED ||
                              status == CUSOLVER_STATUS_EXECUTION_FAILED;
  if (status == CUSOLVER_STATUS_ALLOC_FAILED || (names_no_cause && memory_is_short()))
    throw OutOfMemory(message);
  throw std::runtime_error(message);
}

}  // namespace eckart::cuda
