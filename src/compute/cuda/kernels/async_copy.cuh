#pragma once

#include <cuda_runtime.h>

// Asynchronous copies from global to shared memory, in groups that can be waited for. Before
// compute capability 8.0 the copies are synchronous.

namespace eckart::compute::cuda {

/// Starts the copy of 16 bytes; both addresses are aligned to 16 bytes. Writes zeros if `is_inside`
/// is false.
__device__ inline void copy_async(void* shared, const void* global, bool is_inside) {
#if __CUDA_ARCH__ >= 800
  const auto address = unsigned(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(address), "l"(global), "r"(is_inside ? 16 : 0)
               : "memory");
#else
  *static_cast<uint4*>(shared) = is_inside ? *static_cast<const uint4*>(global) : uint4{0, 0, 0, 0};
#endif
}

/// The same for 8 bytes, aligned to 8 bytes.
__device__ inline void copy_async(double* shared, const double* global, bool is_inside) {
#if __CUDA_ARCH__ >= 800
  const auto address = unsigned(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
               :
               : "r"(address), "l"(global), "r"(is_inside ? 8 : 0)
               : "memory");
#else
  *shared = is_inside ? *global : 0.0;
#endif
}

/// Ends a group: all copies that this thread has started since the last group.
__device__ inline void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most kLeft of this thread's most recent groups are incomplete.
template <int kLeft>
__device__ inline void wait_for_copy_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(kLeft) : "memory");
#endif
}

}  // namespace eckart::compute::cuda
