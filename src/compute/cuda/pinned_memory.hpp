#pragma once

#include <cstddef>
#include <memory>

#include "compute/cuda/check.hpp"

namespace eckart::compute::cuda {

/// Frees pinned host memory on any thread. Ignores errors, because nothing can be done about them.
struct FreePinned {
  std::size_t mapped_bytes = 0;  ///< 0: allocated by CUDA
  /// The current device of the thread that allocated it. It is current while the memory is freed:
  /// the driver would otherwise prepare device 0 for a thread that never used CUDA.
  int device = 0;
  void operator()(void* memory) const noexcept;
};
using PinnedMemory = std::unique_ptr<void, FreePinned>;

/// Allocates pinned host memory, whose address is the same for kernels. Much memory is taken in
/// huge pages where the kernel has some, and registered with CUDA: 128 MiB took 20 ms that way and
/// 48 ms by cudaHostAlloc() (H100). Throws as check_pinned_allocation() does.
PinnedMemory allocate_pinned(std::size_t bytes, CallSite site);

}  // namespace eckart::compute::cuda
