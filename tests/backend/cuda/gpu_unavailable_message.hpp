#pragma once

#include <cuda_runtime.h>

#include <string>

namespace eckart::compute::cuda {

/// Why tests that need a GPU are skipped; empty if there is a GPU.
inline std::string gpu_unavailable_message() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return {};
  return std::string("no CUDA device: ") + cudaGetErrorString(status);
}

}  // namespace eckart::compute::cuda
