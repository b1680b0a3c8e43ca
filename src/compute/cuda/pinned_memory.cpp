#include "compute/cuda/pinned_memory.hpp"

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <cstdint>

#include "core/round_up.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr std::size_t kHugePage = std::size_t(2) << 20;
constexpr std::size_t kMinMapped = std::size_t(4) << 20;  // less is allocated by CUDA

/// Returns memory in huge pages, or in small ones if there are none; null if there is no memory.
void* map_huge_pages(std::size_t bytes) {
  const std::size_t with_room = bytes + kHugePage;
  void* const begin =
      ::mmap(nullptr, with_room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(begin);
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(first) % kHugePage) % kHugePage;
  std::byte* const aligned = first + before;
  if (before > 0) ::munmap(first, before);
  ::munmap(aligned + bytes, with_room - before - bytes);
  // Without them, or before Linux 5.14, registering makes the pages, which takes longer.
  static_cast<void>(::madvise(aligned, bytes, MADV_HUGEPAGE));
  static_cast<void>(::madvise(aligned, bytes, MADV_POPULATE_WRITE));
  return aligned;
}

PinnedMemory register_huge_pages(std::size_t bytes) {
  void* const memory = map_huge_pages(bytes);
  if (!memory) return {};
  if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable) == cudaSuccess)
    return PinnedMemory(memory, {.mapped_bytes = bytes});
  static_cast<void>(cudaGetLastError());  // not an error of the next call
  ::munmap(memory, bytes);
  return {};
}

}  // namespace

void FreePinned::operator()(void* memory) const noexcept {
  if (mapped_bytes == 0) {
    static_cast<void>(cudaFreeHost(memory));
    return;
  }
  static_cast<void>(cudaHostUnregister(memory));
  ::munmap(memory, mapped_bytes);
}

PinnedMemory allocate_pinned(std::size_t bytes, CallSite site) {
  if (bytes >= kMinMapped) {
    if (PinnedMemory memory = register_huge_pages(round_up(bytes, kHugePage))) return memory;
  }
  void* memory = nullptr;
  check_pinned_allocation(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc",
                          bytes, site);
  return PinnedMemory(memory);
}

}  // namespace eckart::compute::cuda
