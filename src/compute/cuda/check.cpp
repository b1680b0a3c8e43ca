#include "compute/cuda/check.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

#include "compute/out_of_memory.hpp"
#include "core/error.hpp"

namespace eckart::cuda {
namespace {

/// Whether so little memory is left that a library's error that names no cause is for want of it:
/// this is how code fails that is loaded when it is first used and buffers of the library's own.
bool is_memory_low() {
  constexpr std::size_t kLowMemoryBytes = std::size_t(256) << 20;
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess && free < kLowMemoryBytes;
}

/// Errors after which nothing can be computed in this process, but which a later call need not
/// repeat.
bool is_device_lost_error(cudaError_t status) {
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
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
      return true;
    default:
      return false;
  }
}

/// An error that stays has left the context unusable, whatever its number.
bool is_device_lost(cudaError_t status) {
  return is_device_lost_error(status) || cudaDeviceSynchronize() != cudaSuccess;
}

/// What a library's status says, which may be the context's error by another name.
[[noreturn]] void throw_library_error(const std::string& message, bool is_allocation_failure,
                                      bool is_generic_error) {
  const cudaError_t status = cudaGetLastError();
  if (is_device_lost(status)) throw DeviceLostError(message);
  if (is_allocation_failure || status == cudaErrorMemoryAllocation ||
      (is_generic_error && is_memory_low()))
    throw OutOfMemory(message);
  throw std::runtime_error(message);
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  const std::string message = std::string("CUDA error ") + std::to_string(int(status)) + " (" +
                              cudaGetErrorString(status) + ") from " + call;
  static_cast<void>(cudaGetLastError());  // so that the next launch does not report it again
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  if (is_device_lost(status)) throw DeviceLostError(message);
  throw std::runtime_error(message);
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_library_error(std::string(cublasGetStatusName(status)) + " from " + call,
                      status == CUBLAS_STATUS_ALLOC_FAILED,
                      status == CUBLAS_STATUS_INTERNAL_ERROR ||
                          status == CUBLAS_STATUS_NOT_INITIALIZED ||
                          status == CUBLAS_STATUS_EXECUTION_FAILED);
}

void check(cusolverStatus_t status, const char* call) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  throw_library_error("cuSOLVER status " + std::to_string(int(status)) + " from " + call,
                      status == CUSOLVER_STATUS_ALLOC_FAILED,
                      status == CUSOLVER_STATUS_INTERNAL_ERROR ||
                          status == CUSOLVER_STATUS_NOT_INITIALIZED ||
                          status == CUSOLVER_STATUS_EXECUTION_FAILED);
}

}  // namespace eckart::cuda
