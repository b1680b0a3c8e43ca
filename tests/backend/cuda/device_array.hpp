#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// An array on the device. Copies use the default stream.
template <class T>
class DeviceArray {
 public:
  /// The values are uninitialized.
  explicit DeviceArray(std::size_t size) : size_(size) {
    buffer_.reserve(std::max<std::size_t>(1, size_ * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    ECKART_CUDA_CHECK(cudaMemcpy(get(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* get() const { return buffer_.template as<T>(); }
  std::size_t size() const { return size_; }
  std::vector<T> copy_to_host() const {
    std::vector<T> values(size_);
    ECKART_CUDA_CHECK(cudaMemcpy(values.data(), get(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t size_;
  DeviceBuffer buffer_;
};

}  // namespace eckart::compute::cuda
