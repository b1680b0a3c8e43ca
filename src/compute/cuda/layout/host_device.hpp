#pragma once

#include "core/host_device.hpp"

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
