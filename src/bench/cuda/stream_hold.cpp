#include "bench/cuda/stream_hold.hpp"

#include <chrono>

#include "compute/cuda/check.hpp"

namespace eckart::bench::cuda {

StreamHold::Guard StreamHold::queue(cudaStream_t stream) {
  {
    const std::lock_guard lock(mutex_);
    is_held_ = true;
  }
  ECKART_CUDA_CHECK(cudaLaunchHostFunc(
      stream, [](void* hold) { static_cast<StreamHold*>(hold)->wait(); }, this));
  return Guard(*this);
}

void StreamHold::release() {
  {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
  }
  released_.notify_all();
}

void StreamHold::wait() {
  std::unique_lock lock(mutex_);
  released_.wait_for(lock, std::chrono::seconds(1), [&] { return !is_held_; });
}

}  // namespace eckart::bench::cuda
