#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/layout/warp.hpp"

namespace eckart::compute::cuda {

/// The sum of what all threads before this one have, and of all threads of a block.
template <int threads, class T>
__device__ T sum_before(T own, T& total) {
  constexpr int kWarps = threads / kWarpSize;
  __shared__ T warp_sums[kWarps];
  const int lane = int(threadIdx.x) % kWarpSize, warp = int(threadIdx.x) / kWarpSize;
  T sum = own;
  for (int offset = 1; offset < kWarpSize; offset *= 2) {
    const T lower = __shfl_up_sync(kAllLanes, sum, offset);
    if (lane >= offset) sum += lower;
  }
  __syncthreads();  // the sums of the call before have been read
  if (lane == kWarpSize - 1) warp_sums[warp] = sum;
  __syncthreads();
  T before = sum - own;
  total = 0;
  for (int w = 0; w < kWarps; ++w) {
    if (w < warp) before += warp_sums[w];
    total += warp_sums[w];
  }
  return before;
}

}  // namespace eckart::compute::cuda
