#include "compute/cuda/check.hpp"

#include <string>

#include "core/error.hpp"

namespace eckart::cuda {
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
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
  throw std::runtime_error(message);
}

void check(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  check(cudaPeekAtLastError(), call);
  const std::string message = "cuSOLVER status " + std::to_string(int(status)) + " from " + call;
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) throw OutOfMemory(message);
  throw std::runtime_error(message);
}

}  // namespace eckart::cuda
