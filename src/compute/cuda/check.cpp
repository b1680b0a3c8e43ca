#include "compute/cuda/check.hpp"

#include <string>

#include "core/error.hpp"

namespace eckart::cuda {
namespace {

/// Errors after which every call on this context fails, whatever it is.
bool poisons_context(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  const std::string message = std::string("CUDA error ") + std::to_string(int(status)) + " (" +
                              cudaGetErrorString(status) + ") from " + call;
  if (poisons_context(status)) throw FatalError(ExitCode::temporary, message);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // not sticky: the next launch must not see it
    throw OutOfMemory(message);
  }
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
