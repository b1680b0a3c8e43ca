#include "compute/cpu/openblas_overrides.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

// Address space; OpenBLAS touches little of it.
constexpr std::size_t kBufferBytes = std::size_t(128) << 20;

/// The functions of OpenBLAS that those below replace. Every OpenBLAS exports them.
void* allocate_in_openblas(int where) {
  static const auto function =
      reinterpret_cast<void* (*)(int)>(::dlsym(RTLD_NEXT, "blas_memory_alloc"));
  return function(where);
}
void free_in_openblas(void* buffer) {
  static const auto function =
      reinterpret_cast<void (*)(void*)>(::dlsym(RTLD_NEXT, "blas_memory_free"));
  function(buffer);
}

thread_local bool is_thread_ending = false;

/// The buffer of a thread while OpenBLAS does not use it.
struct KeptBuffer {
  void* buffer = nullptr;
  ~KeptBuffer() {
    is_thread_ending = true;
    if (buffer) free_in_openblas(buffer);
  }
};
thread_local KeptBuffer kept;

}  // namespace

const void* kept_openblas_buffer() { return kept.buffer; }

void make_openblas_buffers(int threads, const std::string& explanation) {
  const std::size_t bytes = std::size_t(threads) * kBufferBytes;
  void* trial = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial == MAP_FAILED) {
    throw FatalError(ExitCode::temporary, "not enough address space: OpenBLAS needs " +
                                              std::to_string(bytes >> 20) + " MiB, " + explanation);
  }
  ::munmap(trial, bytes);
  std::vector<void*> buffers(std::size_t(threads), nullptr);
  for (void*& buffer : buffers) buffer = allocate_in_openblas(0);
  for (void* buffer : buffers) free_in_openblas(buffer);
}

}  // namespace eckart::compute::cpu

// OpenBLAS calls these instead of its own.
extern "C" {

__attribute__((visibility("default"))) void* blas_memory_alloc(int where) {
  using namespace eckart::compute::cpu;
  if (!is_thread_ending && kept.buffer) return std::exchange(kept.buffer, nullptr);
  return allocate_in_openblas(where);
}

__attribute__((visibility("default"))) void blas_memory_free(void* buffer) {
  using namespace eckart::compute::cpu;
  if (is_thread_ending || kept.buffer) return free_in_openblas(buffer);
  kept.buffer = buffer;
}

// Called when OpenBLAS is loaded, before this program runs.
__attribute__((visibility("default"))) int openblas_num_threads_env() { return 1; }

}  // extern "C"
