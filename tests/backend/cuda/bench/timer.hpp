#pragma once

#include <vector>

#include "compute/cuda/raii.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"

namespace eckart::cuda::bench {

struct Spread {
  double median, min, max;
};

/// Times work on one stream by events. Each repeat begins with none of its data in the level 2
/// cache: compulsory traffic is then traffic with device memory.
class Timer {
 public:
  Timer(cudaStream_t stream, int repeats);
  Spread microseconds(const Queued& queued) const;

 private:
  void clear_cache() const;

  const cudaStream_t stream_;
  const int repeats_;
  const Blas blas_;
  const OnDevice<float> other_data_;
  const OnDevice<float> sum_;
};

}  // namespace eckart::cuda::bench
