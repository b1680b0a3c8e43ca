#pragma once

#include <cstddef>

#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {

/// An array in pinned host memory and on the device.
class MirroredArray {
 public:
  explicit MirroredArray(std::size_t bytes) {
    host_.reserve(bytes);
    device_.reserve(bytes);
    bytes_ = bytes;
  }
  std::byte* host() const { return host_.as(); }
  void* device() const { return device_.as<void>(); }
  std::size_t bytes() const { return bytes_; }
  void queue_copy_in(cudaStream_t stream) const {
    ECKART_CUDA_CHECK_COPY(
        cudaMemcpyAsync(device(), host(), bytes_, cudaMemcpyHostToDevice, stream), bytes_);
  }
  void queue_copy_out(cudaStream_t stream) const {
    ECKART_CUDA_CHECK_COPY(
        cudaMemcpyAsync(host(), device(), bytes_, cudaMemcpyDeviceToHost, stream), bytes_);
  }

 private:
  compute::cuda::PinnedBuffer host_;
  compute::cuda::DeviceBuffer device_;
  std::size_t bytes_;
};

}  // namespace eckart::bench::cuda
