#pragma once

#include <cstddef>
#include <vector>

#include "bench/operation/batch.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {

/// Memory of the host. Pageable memory has its pages.
class HostBuffer {
 public:
  HostBuffer(HostMemory memory, std::size_t bytes) {
    if (memory == HostMemory::pinned) {
      pinned_.reserve(bytes);
      data_ = pinned_.as();
    } else {
      pageable_.resize(bytes);
      data_ = pageable_.data();
    }
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  std::byte* data() const { return data_; }

 private:
  compute::cuda::PinnedBuffer pinned_;
  std::vector<std::byte> pageable_;
  std::byte* data_ = nullptr;
};

}  // namespace eckart::bench::cuda
