#include "tests/backend/cuda/bench/timer.hpp"

#include <algorithm>
#include <utility>

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kWarmUp = 3;
// Reading a multiple of the cache size also gives the host time to queue the timed work, so that
// the device does not wait for the host.
constexpr int kCacheMultiple = 4;

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  ECKART_CUDA_CHECK(cudaGetDevice(&device));
  ECKART_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

KernelTimer::KernelTimer(cudaStream_t stream, int repeats)
    : stream_(stream),
      repeats_(repeats),
      blas_(ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2)),
      flush_buffer_(std::size_t(attribute(cudaDevAttrL2CacheSize)) * kCacheMultiple /
                    sizeof(float)),
      sum_(1) {
  ECKART_CUDA_CHECK(cudaMemset(flush_buffer_.get(), 0, flush_buffer_.size() * sizeof(float)));
  ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream));
  ECKART_CUDA_CHECK(cublasSetPointerMode(blas_.get(), CUBLAS_POINTER_MODE_DEVICE));
}

/// Only reads: the write-back of modified cache lines would be charged to the timed work.
void KernelTimer::flush_cache() const {
  ECKART_CUDA_CHECK(
      cublasSasum(blas_.get(), int(flush_buffer_.size()), flush_buffer_.get(), 1, sum_.get()));
}

Spread KernelTimer::microseconds(const QueuedWork& queued) const {
  std::vector<std::pair<Event, Event>> events;
  for (int i = 0; i < kWarmUp + repeats_; ++i) {
    events.emplace_back(ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDefault),
                        ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDefault));
  }
  for (const auto& [start, stop] : events) {
    if (queued.prepare) queued.prepare();
    flush_cache();
    ECKART_CUDA_CHECK(cudaEventRecord(start.get(), stream_));
    queued.launch();
    ECKART_CUDA_CHECK(cudaEventRecord(stop.get(), stream_));
  }
  ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_));
  std::vector<double> us;
  for (int i = kWarmUp; i < kWarmUp + repeats_; ++i) {
    float ms = 0;
    const auto& [start, stop] = events[std::size_t(i)];
    ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, start.get(), stop.get()));
    us.push_back(1e3 * double(ms));
  }
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), us.back()};
}

}  // namespace eckart::compute::cuda::bench
