#pragma once

#include <algorithm>
#include <span>

#include "compute/cuda/raii.hpp"

namespace eckart::compute::cuda {

/// Queues a copy of values to the device through pinned memory, which must be free.
template <class T>
void copy_in_async(std::span<const T> values, PinnedBuffer& host, DeviceBuffer& device,
                   cudaStream_t stream) {
  const std::size_t bytes = values.size_bytes();
  host.reserve_with_room(bytes);
  device.reserve_with_room(bytes);
  std::ranges::copy(values, host.as<T>());
  ECKART_CUDA_CHECK_COPY(
      cudaMemcpyAsync(device.as<>(), host.as<>(), bytes, cudaMemcpyHostToDevice, stream), bytes);
}

}  // namespace eckart::compute::cuda
