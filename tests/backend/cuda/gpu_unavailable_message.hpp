#pragma once

#include <cuda_runtime.h>

#include <string>

namespace eckart::cuda {

/// Why a test that needs a GPU is skipped here; empty where there is one.
inline std::string gpu_unavailable_message() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return {};
  return std::string("no CUDA device: ") + cudaGetErrorString(status);
}

}  // namespace eckart::cuda
