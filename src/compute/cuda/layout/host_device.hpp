#pragma once

/// Marks arithmetic that kernels and the host share. Headers of this folder need no CUDA, so that
/// what they compute is tested without a GPU.
#ifdef __CUDACC__
#define ECKART_HOST_DEVICE __host__ __device__
#else
#define ECKART_HOST_DEVICE
#endif

namespace eckart::cuda {

// By the instructions that a GPU has for them.
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

}  // namespace eckart::cuda
