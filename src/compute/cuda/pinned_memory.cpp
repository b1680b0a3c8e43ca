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

/// Makes a device current until the end of its scope. Device 0 is not made current again: it is
/// that of threads that never used CUDA, and the driver would prepare it for them.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    if (cudaGetDevice(&before_) != cudaSuccess || before_ == device) return;
    static_cast<void>(cudaSetDevice(device));
    is_changed_ = before_ != 0;
  }
  ~CurrentDevice() {
    if (is_changed_) static_cast<void>(cudaSetDevice(before_));
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  bool is_changed_ = false;
};

/// Some systems give kernels another address for registered memory than the host has.
bool is_same_address_for_kernels(void* memory) {
  void* address = nullptr;
  return cudaHostGetDevicePointer(&address, memory, 0) == cudaSuccess && address == memory;
}

PinnedMemory register_huge_pages(std::size_t bytes, int device) {
  void* const memory = map_huge_pages(bytes);
  if (!memory) return {};
  if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped) ==
      cudaSuccess) {
    PinnedMemory registered(memory, {.mapped_bytes = bytes, .device = device});
    if (is_same_address_for_kernels(memory)) return registered;
  } else {
    ::munmap(memory, bytes);
  }
  static_cast<void>(cudaGetLastError());  // not an error of the next call
  return {};
}

}  // namespace

void FreePinned::operator()(void* memory) const noexcept {
  const CurrentDevice current(device);
  if (mapped_bytes == 0) {
    static_cast<void>(cudaFreeHost(memory));
    return;
  }
  static_cast<void>(cudaHostUnregister(memory));
  ::munmap(memory, mapped_bytes);
}

PinnedMemory allocate_pinned(std::size_t bytes, CallSite site) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", site);
  if (bytes >= kMinMapped) {
    if (PinnedMemory memory = register_huge_pages(round_up(bytes, kHugePage), device))
      return memory;
  }
  void* memory = nullptr;
  check_pinned_allocation(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc",
                          bytes, site);
  return PinnedMemory(memory, {.device = device});
}

}  // namespace eckart::compute::cuda
