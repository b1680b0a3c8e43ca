#include "flow/workers.hpp"

#include <pthread.h>

#include <utility>

namespace eckart::flow {

Workers::Workers(const std::string& name, int count, Body body, OnFailure on_failure)
    : body_(std::move(body)), on_failure_(std::move(on_failure)) {
  threads_.reserve(std::size_t(count));
  for (int index = 0; index < count; ++index) {
    try {
      threads_.emplace_back([this, index] { run(index); });
    } catch (...) {  // the system has no more threads for us
      on_failure_(std::current_exception());
      break;
    }
    const std::string full_name = name.substr(0, 12) + ":" + std::to_string(index);
    pthread_setname_np(threads_.back().native_handle(), full_name.substr(0, 15).c_str());
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
