#pragma once

#include "compute/cuda/check.hpp"

namespace eckart::compute::cuda {

/// Lets a kernel without static shared memory use all that a block of the current device can have.
/// The limit is a property of the kernel on that device. If a lane set it to the size of its
/// launch, the larger launch of another lane could fail. Throws as check() does.
template <class Kernel>
void allow_all_shared_memory(Kernel* kernel) {
  int device = 0, bytes = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  ECKART_CUDA_CHECK(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace eckart::compute::cuda
