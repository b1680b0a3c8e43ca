#include "flow/workers.hpp"

#include <pthread.h>

namespace eckart::flow {

Workers::Workers(const std::string& name, int count, Body body, OnFailure on_failure,
                 std::function<void()> on_last)
    : body_(std::move(body)),
      on_failure_(std::move(on_failure)),
      on_last_(std::move(on_last)),
      running_(count) {
  threads_.reserve(std::size_t(count));
  for (int index = 0; index < count; ++index) {
    try {
      threads_.emplace_back([this, index] { run(index); });
    } catch (...) {  // the system has no thread for us: those that were to come have ended
      on_failure_(std::current_exception());
      if ((running_ -= count - index) == 0) on_last_();
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
  if (--running_ == 0) on_last_();
}

void Workers::join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

Workers::~Workers() { join(); }

}  // namespace eckart::flow
