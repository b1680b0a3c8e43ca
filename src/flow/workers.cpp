#include "flow/workers.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

namespace eckart::flow {
namespace {

constexpr std::size_t kMaxThreadNameBytes = 15;  // of Linux

/// Whether there is memory for the stack of another thread.
bool has_memory_for_stack() {
  pthread_attr_t defaults;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&defaults) != 0) return true;
  pthread_attr_getstacksize(&defaults, &bytes);
  pthread_attr_destroy(&defaults);
  void* const stack = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  return stack != MAP_FAILED && ::munmap(stack, bytes) == 0;
}

/// The error of a thread that could not be started. pthread_create() reports EAGAIN both for too
/// many threads and for too little memory. Too little memory becomes std::bad_alloc.
std::exception_ptr thread_start_error() {
  try {
    throw;
  } catch (const std::system_error& error) {
    const bool is_resource_limit = error.code() == std::errc::resource_unavailable_try_again;
    if (is_resource_limit && !has_memory_for_stack())
      return std::make_exception_ptr(std::bad_alloc());
  } catch (...) {
  }
  return std::current_exception();
}

}  // namespace

Workers::Workers(std::string_view name, int count, Body body, OnFailure on_failure)
    : body_(std::move(body)), on_failure_(std::move(on_failure)) {
  threads_.reserve(std::size_t(count));
  for (int index = 0; index < count; ++index) {
    try {
      threads_.emplace_back([this, index] { run(index); });
    } catch (...) {
      on_failure_(thread_start_error());
      break;
    }
    // Without an allocation, because this constructor must not throw while threads run.
    std::array<char, 32> full_name{};
    std::snprintf(full_name.data(), full_name.size(), "%.*s:%d",
                  int(std::min<std::size_t>(name.size(), 12)), name.data(), index);
    full_name[kMaxThreadNameBytes] = '\0';
    pthread_setname_np(threads_.back().native_handle(), full_name.data());
  }
}

void Workers::run(int index) {
  try {
    body_(index);
  } catch (...) {
    on_failure_(std::current_exception());
  }
}

void Workers::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

Workers::~Workers() { join(); }

}  // namespace eckart::flow
