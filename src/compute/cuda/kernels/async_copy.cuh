#pragma once

#include <cuda_runtime.h>

#include <type_traits>

// Asynchronous copies from global to shared memory, in groups that can be waited for. Before
// compute capability 8.0 the copies are synchronous.

namespace eckart::compute::cuda {

/// Starts the copy of kBytes bytes, 8 or 16; both addresses are multiples of it. Writes zeros if
/// `is_inside` is false.
template <int kBytes>
__device__ inline void copy_async(void* shared, const void* global, bool is_inside) {
  static_assert(kBytes == 8 || kBytes == 16);
#if __CUDA_ARCH__ >= 800
  const auto address = unsigned(__cvta_generic_to_shared(shared));
  const int bytes = is_inside ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(address), "l"(global), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
                 :
                 : "r"(address), "l"(global), "r"(bytes)
                 : "memory");
  }
#else
  using Words = std::conditional_t<kBytes == 16, uint4, uint2>;
  *static_cast<Words*>(shared) = is_inside ? *static_cast<const Words*>(global) : Words{};
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
