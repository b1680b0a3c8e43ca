#pragma once

/// Marks functions that kernels and the host share. The headers of this folder do not need CUDA, so
/// that their index arithmetic can be tested without a GPU.
#ifdef __CUDACC__
#define ECKART_HOST_DEVICE __host__ __device__
#else
#define ECKART_HOST_DEVICE
#endif

namespace eckart::compute::cuda {

// Minimum and maximum. On a GPU each is one instruction.
ECKART_HOST_DEVICE inline int smaller(int a, int b) {
#ifdef __CUDA_ARCH__
  return min(a, b);
#else
  return a < b ? a : b;
#endif
}
ECKART_HOST_DEVICE inline int larger(int a, int b) {
#ifdef __CUDA_ARCH__
  return max(a, b);
#else
  return a > b ? a : b;
#endif
}

}  // namespace eckart::compute::cuda
