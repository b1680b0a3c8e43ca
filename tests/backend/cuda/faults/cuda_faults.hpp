#pragma once

#include <cuda_runtime_api.h>

namespace eckart::cuda {

/// Lets the calls that a program makes to CUDA fail. Link `cuda_faults` to have it; in the module
/// of that kind it goes by the environment (cuda_faults.cpp).
struct CudaFault {
  cudaError_t error = cudaSuccess;
  long first = 0;             ///< the call that fails, from 1 on
  bool is_permanent = false;  ///< all calls after it fail as well, as when the context is lost
};
/// Counts calls from here on, and lets one fail.
void arm_fault(const CudaFault& fault);
/// Calls since arm().
long cuda_call_count();

/// Kernels that end the context: by __trap(), and by writing to no address.
void launch_trap(cudaStream_t stream);
void launch_wild_write(cudaStream_t stream);

}  // namespace eckart::cuda
