#include "tests/support/failing_new.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace eckart::test {
namespace {

// allocations of this thread before a failure; 0: no failure
thread_local long allocations_left = 0;
thread_local bool has_failed = false;

void* allocate(std::size_t bytes) {
  if (allocations_left > 0 && --allocations_left == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void fail_allocation(long number) {
  has_failed = false;
  allocations_left = number;
}

bool stop_failing_allocations() {
  allocations_left = 0;
  return has_failed;
}

}  // namespace eckart::test

void* operator new(std::size_t bytes) { return eckart::test::allocate(bytes); }
void* operator new[](std::size_t bytes) { return eckart::test::allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
