#pragma once

#include <cuda_runtime.h>

#include <condition_variable>
#include <mutex>

namespace eckart::bench::cuda {

/// Makes a stream wait while the host queues work on it.
class StreamHold {
 public:
  /// Lets the stream go on at its end.
  class Guard {
   public:
    explicit Guard(StreamHold& hold) : hold_(hold) {}
    ~Guard() { hold_.release(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    StreamHold& hold_;
  };

  /// Work that is queued from now on begins after the guard's end, or after a second if the host
  /// itself waits for the stream until then. `this` must live until the stream was synchronized.
  /// Throws as check() of compute/cuda.
  [[nodiscard]] Guard queue(cudaStream_t stream);

 private:
  void release();
  void wait();

  std::mutex mutex_;
  std::condition_variable released_;
  bool is_held_ = false;
};

}  // namespace eckart::bench::cuda
