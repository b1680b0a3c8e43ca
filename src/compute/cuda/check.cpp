#include "compute/cuda/check.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "compute/out_of_memory.hpp"
#include "core/error.hpp"

namespace eckart::compute::cuda {
namespace {

/// True if little device memory is free. A library error without a cause then counts as out of
/// memory: lazily loaded code and the library's own buffers fail in this way.
bool is_memory_low() {
  constexpr std::size_t kLowMemoryBytes = std::size_t(256) << 20;
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess && free < kLowMemoryBytes;
}

/// Errors after which this process cannot use the device, although later calls may succeed.
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

/// True if the device cannot be used. A sticky error makes cudaDeviceSynchronize() fail too,
/// whatever its number.
bool is_device_lost(cudaError_t status) {
  return is_device_lost_error(status) || cudaDeviceSynchronize() != cudaSuccess;
}

/// "src/compute/cuda/slot.cpp:48", for any form of the path that was given to the compiler.
std::string format_site(const CallSite& site) {
  const std::string_view path = site.file;
  std::size_t begin = 0;
  for (const std::string_view folder : {"/src/", "/tests/"}) {
    const std::size_t found = path.rfind(folder);
    if (found != path.npos) begin = std::max(begin, found + 1);
  }
  return std::string(path.substr(begin)) + ":" + std::to_string(site.line);
}

std::string format_failure(const std::string& error, const std::string& call, const CallSite& site,
                           const std::string& size = "") {
  return error + " from " + call + " at " + format_site(site) + (size.empty() ? "" : ": ") + size;
}

std::string format_free_memory() {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess)
    return std::to_string(free) + " of " + std::to_string(total) + " bytes of device memory free";
  static_cast<void>(cudaGetLastError());
  return "free device memory unknown";
}

std::string format_dimensions(dim3 size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

[[noreturn]] void throw_error(cudaError_t status, const std::string& call, const CallSite& site,
                              const std::string& size = "", MemoryKind memory = MemoryKind::gpu) {
  const std::string message = format_failure(
      "CUDA error " + std::to_string(int(status)) + " (" + cudaGetErrorString(status) + ")", call,
      site, size);
  static_cast<void>(cudaGetLastError());  // reset the error, or the next launch reports it again
  if (status == cudaErrorMemoryAllocation)
    throw OutOfMemory(message + (memory == MemoryKind::gpu ? "; " + format_free_memory() : ""),
                      memory);
  if (is_device_lost(status)) throw DeviceLostError(message);
  throw std::runtime_error(message);
}

std::string format_matrices(const MatrixBatch& batch) {
  return "m " + std::to_string(batch.m) + ", n " + std::to_string(batch.n) +
         (batch.inner > 0 ? ", inner dimension " + std::to_string(batch.inner) : "") +
         ", batch count " + std::to_string(batch.count);
}

/// Handles an error of a library. Its cause may be an error of the CUDA context.
[[noreturn]] void throw_library_error(const std::string& message, bool is_allocation_failure,
                                      bool is_generic_error) {
  const cudaError_t status = cudaGetLastError();
  if (is_device_lost(status)) throw DeviceLostError(message);
  if (is_allocation_failure || status == cudaErrorMemoryAllocation ||
      (is_generic_error && is_memory_low()))
    throw OutOfMemory(message + "; " + format_free_memory());
  throw std::runtime_error(message);
}

[[noreturn]] void throw_library_error(cublasStatus_t status, const char* call, const CallSite& site,
                                      const std::string& size = "") {
  throw_library_error(format_failure(cublasGetStatusName(status), call, site, size),
                      status == CUBLAS_STATUS_ALLOC_FAILED,
                      status == CUBLAS_STATUS_INTERNAL_ERROR ||
                          status == CUBLAS_STATUS_NOT_INITIALIZED ||
                          status == CUBLAS_STATUS_EXECUTION_FAILED);
}

[[noreturn]] void throw_library_error(cusolverStatus_t status, const char* call,
                                      const CallSite& site, const std::string& size = "") {
  throw_library_error(
      format_failure("cuSOLVER status " + std::to_string(int(status)), call, site, size),
      status == CUSOLVER_STATUS_ALLOC_FAILED,
      status == CUSOLVER_STATUS_INTERNAL_ERROR || status == CUSOLVER_STATUS_NOT_INITIALIZED ||
          status == CUSOLVER_STATUS_EXECUTION_FAILED);
}

}  // namespace

void check(cudaError_t status, const char* call, CallSite site) {
  if (status != cudaSuccess) throw_error(status, call, site);
}

void check(cublasStatus_t status, const char* call, CallSite site) {
  if (status != CUBLAS_STATUS_SUCCESS) throw_library_error(status, call, site);
}
void check(cusolverStatus_t status, const char* call, CallSite site) {
  if (status != CUSOLVER_STATUS_SUCCESS) throw_library_error(status, call, site);
}

void check_batch(cublasStatus_t status, const char* call, const MatrixBatch& batch, CallSite site) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw_library_error(status, call, site, format_matrices(batch));
}
void check_batch(cusolverStatus_t status, const char* call, const MatrixBatch& batch,
                 CallSite site) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw_library_error(status, call, site, format_matrices(batch));
}

void check_copy(cudaError_t status, const char* call, std::size_t bytes, CallSite site) {
  if (status != cudaSuccess) throw_error(status, call, site, std::to_string(bytes) + " bytes");
}

void check_device_allocation(cudaError_t status, const char* call, std::size_t bytes,
                             CallSite site) {
  if (status == cudaSuccess) return;
  throw_error(status, call, site, std::to_string(bytes) + " bytes of device memory requested");
}

void check_pinned_allocation(cudaError_t status, const char* call, std::size_t bytes,
                             CallSite site) {
  if (status == cudaSuccess) return;
  throw_error(status, call, site, std::to_string(bytes) + " bytes of pinned host memory requested",
              MemoryKind::pinned_host);
}

void check_launch(const char* kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                  CallSite site) {
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  throw_error(status, std::string("launching ") + kernel, site,
              "grid " + format_dimensions(grid) + ", block " + format_dimensions(block) + ", " +
                  std::to_string(shared_bytes) + " bytes of shared memory");
}

}  // namespace eckart::compute::cuda
