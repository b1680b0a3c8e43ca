#pragma once

#include <cstddef>

#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {

/// Queues reads of more memory than the level 2 cache has, so that work after it finds none of its
/// data there. Only reads: the write-back of modified cache lines would be charged to that work.
class CacheFlush {
 public:
  /// For the current device. Throws as check() of compute/cuda.
  explicit CacheFlush(cudaStream_t stream);
  void queue() const;

 private:
  std::size_t size_;  // elements
  compute::cuda::DeviceBuffer values_, sum_;
  compute::cuda::BlasHandle blas_;
};

}  // namespace eckart::bench::cuda
