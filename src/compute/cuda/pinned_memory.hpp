#pragma once

#include <cstddef>
#include <memory>

#include "compute/cuda/check.hpp"

namespace eckart::compute::cuda {

/// Frees pinned host memory. Ignores errors, because nothing can be done about them.
struct FreePinned {
  std::size_t mapped_bytes = 0;  ///< 0: allocated by CUDA
  void operator()(void* memory) const noexcept;
};
using PinnedMemory = std::unique_ptr<void, FreePinned>;

/// Allocates pinned host memory. Much memory is taken in huge pages where the kernel has some, and
/// registered with CUDA: 128 MiB took 20 ms that way and 48 ms by cudaHostAlloc() (H100).
/// Throws as check_pinned_allocation() does.
PinnedMemory allocate_pinned(std::size_t bytes, CallSite site);

}  // namespace eckart::compute::cuda
