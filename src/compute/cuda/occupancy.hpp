#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/check.hpp"

namespace eckart::compute::cuda {

/// The share of the threads of a multiprocessor that can be resident with this kernel, in blocks of
/// so many threads.
template <class Kernel>
double occupancy(Kernel kernel, int threads) {
  int device = 0, max_threads = 0, blocks = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&max_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  ECKART_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0));
  return double(blocks) * threads / max_threads;
}

}  // namespace eckart::compute::cuda
