#include "tests/support/failing_new.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace eckart::test {
namespace {

// allocations of this thread before a failure; 0: no failure
thread_local long allocations_left = 0;
thread_local bool has_failed = false;
thread_local long allocated_bytes = 0, max_bytes = 0;  // since the count began

void* allocate(std::size_t bytes) {
  if (allocations_left > 0 && --allocations_left == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(bytes > 0 ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  allocated_bytes += long(malloc_usable_size(memory));
  max_bytes = std::max(max_bytes, allocated_bytes);
  return memory;
}

void free(void* memory) {
  allocated_bytes -= long(malloc_usable_size(memory));
  std::free(memory);
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

void count_allocated_bytes() { allocated_bytes = max_bytes = 0; }

std::size_t max_allocated_bytes() { return std::size_t(max_bytes); }

}  // namespace eckart::test

void* operator new(std::size_t bytes) { return eckart::test::allocate(bytes); }
void* operator new[](std::size_t bytes) { return eckart::test::allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { eckart::test::free(memory); }
void operator delete[](void* memory) noexcept { eckart::test::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { eckart::test::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { eckart::test::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { eckart::test::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { eckart::test::free(memory); }
