#include "tests/backend/cuda/bench/timer.hpp"

#include <algorithm>
#include <utility>

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kWarmUp = 3;

}  // namespace

KernelTimer::KernelTimer(cudaStream_t stream, int repeats)
    : stream_(stream), repeats_(repeats), flush_(stream) {}

Spread KernelTimer::microseconds(const QueuedWork& queued) const {
  std::vector<std::pair<Event, Event>> events;
  for (int i = 0; i < kWarmUp + repeats_; ++i) {
    events.emplace_back(ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDefault),
                        ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDefault));
  }
  for (const auto& [start, stop] : events) {
    if (queued.prepare) queued.prepare();
    flush_.queue();
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
