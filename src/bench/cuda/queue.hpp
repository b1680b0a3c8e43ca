#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "bench/cuda/cache_flush.hpp"
#include "bench/cuda/stream_hold.hpp"
#include "bench/operation/call_times.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::bench::cuda {

/// Moments on a stream, of which the differences are measured.
template <std::size_t count>
class Moments {
 public:
  Moments() {
    for (compute::cuda::Event& event : events_)
      event = ECKART_CUDA_HANDLE(compute::cuda::Event, cudaEventCreateWithFlags, cudaEventDefault);
  }
  void record(std::size_t moment, cudaStream_t stream) const {
    ECKART_CUDA_CHECK(cudaEventRecord(events_[moment].get(), stream));
  }
  /// Seconds; both moments must be over.
  double between(std::size_t from, std::size_t to) const {
    float ms = 0;
    ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, events_[from].get(), events_[to].get()));
    return 1e-3 * double(ms);
  }

 private:
  std::array<compute::cuda::Event, count> events_;
};

/// What all operations on the GPU use.
struct Queue {
  Queue() { ECKART_CUDA_CHECK(cublasSetStream(blas.get(), stream.get())); }
  ~Queue() { cudaStreamSynchronize(stream.get()); }  // work that failed may still use `hold`
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  void wait() const { ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get())); }

  /// Does work(), which queues it, with empty caches. Returns what it took on the GPU, in seconds.
  /// The GPU begins when all is queued, so it never waits for the host between two kernels.
  template <class Work>
  double seconds(const Work& work) {
    {
      const StreamHold::Guard guard = hold.queue(stream.get());
      flush.queue();
      moments.record(0, stream.get());
      work();
      moments.record(1, stream.get());
    }
    wait();
    return moments.between(0, 1);
  }

  /// What work() takes as above, and then once more after copy_in() and before copy_out().
  template <class CopyIn, class Work, class CopyOut>
  CallTimes call_times(const CopyIn& copy_in, const Work& work, const CopyOut& copy_out) {
    const double compute_s = seconds(work);
    flush.queue();
    wait();
    const auto begin = std::chrono::steady_clock::now();
    moments.record(2, stream.get());
    copy_in();
    moments.record(3, stream.get());
    work();
    moments.record(4, stream.get());
    copy_out();
    moments.record(5, stream.get());
    wait();
    const std::chrono::duration<double> total = std::chrono::steady_clock::now() - begin;
    return {.compute_s = compute_s,
            .copy_in_s = moments.between(2, 3),
            .copy_out_s = moments.between(4, 5),
            .total_s = total.count()};
  }

  compute::cuda::Stream stream =
      ECKART_CUDA_HANDLE(compute::cuda::Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  compute::cuda::BlasHandle blas = ECKART_CUDA_HANDLE(compute::cuda::BlasHandle, cublasCreate_v2);
  CacheFlush flush{stream.get()};
  Moments<6> moments;
  StreamHold hold;
};

}  // namespace eckart::bench::cuda
