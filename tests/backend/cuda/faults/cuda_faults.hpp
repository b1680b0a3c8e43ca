#pragma once

#include <cuda_runtime_api.h>

namespace eckart::compute::cuda {

/// A fault to inject into CUDA calls. Link `cuda_faults` to use it. In the module `faulty_cuda` the
/// environment selects the fault (cuda_faults.cpp).
struct CudaFault {
  cudaError_t error = cudaSuccess;
  long first = 0;             ///< number of the call that fails, from 1
  bool is_permanent = false;  ///< all later calls fail too, as after a lost context
};
/// Resets the call count and sets the fault.
void arm_fault(const CudaFault& fault);
/// The number of calls since arm_fault().
long cuda_call_count();

/// Launches kernels that destroy the context: with __trap(), and by writing to an invalid address.
void launch_trap(cudaStream_t stream);
void launch_wild_write(cudaStream_t stream);

}  // namespace eckart::compute::cuda
