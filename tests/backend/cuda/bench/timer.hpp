#pragma once

#include <vector>

#include "bench/cuda/cache_flush.hpp"
#include "compute/cuda/raii.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"

namespace eckart::compute::cuda::bench {

struct Spread {
  double median, min, max;
};

/// Times work on one stream with events. The level 2 cache contains none of the data at the
/// beginning of each repeat, so that compulsory traffic is device memory traffic.
class KernelTimer {
 public:
  KernelTimer(cudaStream_t stream, int repeats);
  Spread microseconds(const QueuedWork& queued) const;

 private:
  const cudaStream_t stream_;
  const int repeats_;
  const eckart::bench::cuda::CacheFlush flush_;
};

}  // namespace eckart::compute::cuda::bench
