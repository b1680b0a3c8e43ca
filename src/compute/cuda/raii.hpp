#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "compute/cuda/check.hpp"
#include "compute/cuda/pinned_memory.hpp"

namespace eckart::compute::cuda {

/// Owns a CUDA handle: move-only, and the same size as the handle. Errors of the destroy function
/// are ignored, because nothing can be done about them.
template <auto destroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle* handle) const noexcept {
    static_cast<void>(destroy(handle));
  }
};
template <class Handle, auto destroy>
using UniqueHandle = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<destroy>>;

using Stream = UniqueHandle<cudaStream_t, cudaStreamDestroy>;
using Event = UniqueHandle<cudaEvent_t, cudaEventDestroy>;
using BlasHandle = UniqueHandle<cublasHandle_t, cublasDestroy_v2>;
using SolverHandle = UniqueHandle<cusolverDnHandle_t, cusolverDnDestroy>;
using SolverParamsHandle = UniqueHandle<cusolverDnParams_t, cusolverDnDestroyParams>;
using JacobiParamsHandle = UniqueHandle<gesvdjInfo_t, cusolverDnDestroyGesvdjInfo>;

/// Creates a handle with a function that writes it to its first argument. Use ECKART_CUDA_HANDLE to
/// call it. Throws as check() does.
template <class HandleType, class Create, class... Args>
HandleType make_handle(const char* call, CallSite site, Create create, Args... args) {
  typename HandleType::pointer handle = nullptr;
  check(create(&handle, args...), call, site);
  return HandleType(handle);
}
/// Example: ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking)
#define ECKART_CUDA_HANDLE(HandleType, create, ...) \
  ::eckart::compute::cuda::make_handle<HandleType>( \
      #create, ::eckart::compute::cuda::CallSite::current(), create __VA_OPT__(, ) __VA_ARGS__)

/// A memory buffer that grows and never shrinks. Its contents are lost when it grows.
/// `allocate` returns a std::unique_ptr.
template <auto allocate>
class GrowingBuffer {
 public:
  /// Grows the buffer to at least `bytes`. No queued work may use the old memory. Error messages
  /// name `site`, the caller. Throws as check() does.
  void reserve(std::size_t bytes, CallSite site = CallSite::current()) {
    if (bytes <= bytes_) return;
    memory_.reset();
    bytes_ = 0;
    memory_ = allocate(bytes, site);
    bytes_ = bytes;
  }
  /// As reserve(), with room for batches that are a little larger: growing waits for all work of
  /// the device.
  void reserve_with_room(std::size_t bytes, CallSite site = CallSite::current()) {
    if (bytes > bytes_) reserve(bytes + bytes / 4, site);
  }
  template <class T = std::byte>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  decltype(allocate(0, CallSite())) memory_{};
  std::size_t bytes_ = 0;
};

using DeviceMemory = std::unique_ptr<void, Destroy<cudaFree>>;
inline DeviceMemory allocate_device(std::size_t bytes, CallSite site) {
  void* memory = nullptr;
  check_device_allocation(cudaMalloc(&memory, bytes), "cudaMalloc", bytes, site);
  return DeviceMemory(memory);
}
using DeviceBuffer = GrowingBuffer<allocate_device>;
using PinnedBuffer = GrowingBuffer<allocate_pinned>;

}  // namespace eckart::compute::cuda
