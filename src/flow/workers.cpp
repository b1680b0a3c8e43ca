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
constexpr std::size_t kMaxNameBytes = 12;        // leaves space for the index

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
    : Workers(
          name, count, [body = std::move(body)](int index, Workers&) { body(index); },
          std::move(on_failure)) {}

Workers::Workers(std::string_view name, int count, AdjustableBody body, OnFailure on_failure)
    : body_(std::move(body)),
      on_failure_(std::move(on_failure)),
      name_(name.substr(0, kMaxNameBytes)),
      count_(count) {
  const std::lock_guard lock(mutex_);
  workers_.resize(std::size_t(count));
  for (int index = 0; index < count; ++index) {
    try {
      start(index);
    } catch (...) {
      on_failure_(thread_start_error());
      break;
    }
  }
}

/// Needs the mutex.
void Workers::start(int index) {
  std::thread& thread = workers_[std::size_t(index)].thread;
  thread = std::thread([this, index] { run(index); });
  // Without an allocation, because the constructor must not throw while threads run.
  std::array<char, 32> full_name{};
  std::snprintf(full_name.data(), full_name.size(), "%s:%d", name_.c_str(), index);
  full_name[kMaxThreadNameBytes] = '\0';
  pthread_setname_np(thread.native_handle(), full_name.data());
}

void Workers::set_count(int count) {
  const std::lock_guard lock(mutex_);
  if (is_joined_) return;
  try {
    while (workers_.size() < std::size_t(count)) workers_.emplace_back().has_left = true;
    count_ = count;
    for (int index = 0; index < count; ++index) {
      Worker& worker = workers_[std::size_t(index)];
      if (!worker.has_left || worker.is_joining) continue;
      if (worker.thread.joinable()) worker.thread.join();  // it is about to end
      start(index);
      worker.has_left = false;
    }
  } catch (const std::exception&) {  // no memory, or too many threads
  }
}

bool Workers::leaves(int index) {
  if (index < count_) return false;
  const std::lock_guard lock(mutex_);
  return workers_[std::size_t(index)].has_left = index >= count_;
}

void Workers::run(int index) {
  try {
    body_(index, *this);
  } catch (...) {
    on_failure_(std::current_exception());
  }
}

void Workers::join() {
  std::unique_lock lock(mutex_);
  const auto is_running = [](const Worker& worker) { return worker.thread.joinable(); };
  for (auto found = workers_.begin();
       (found = std::ranges::find_if(workers_, is_running)) != workers_.end();) {
    const auto index = std::size_t(found - workers_.begin());
    std::thread thread = std::move(found->thread);
    found->is_joining = true;
    lock.unlock();
    thread.join();
    lock.lock();
    workers_[index].is_joining = false;
  }
  is_joined_ = true;
}

Workers::~Workers() { join(); }

}  // namespace eckart::flow
