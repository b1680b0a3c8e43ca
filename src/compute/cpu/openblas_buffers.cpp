#include "compute/cpu/openblas_buffers.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <vector>

#include "core/error.hpp"

// Every OpenBLAS exports these functions. Its headers do not declare them.
extern "C" void* blas_memory_alloc(int where);
extern "C" void blas_memory_free(void* buffer);

namespace eckart::compute::cpu {
namespace {

// Address space; OpenBLAS touches little of it.
constexpr std::size_t kBufferBytes = std::size_t(128) << 20;

}  // namespace

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
  for (void*& buffer : buffers) buffer = blas_memory_alloc(0);
  for (void* buffer : buffers) blas_memory_free(buffer);
}

}  // namespace eckart::compute::cpu
