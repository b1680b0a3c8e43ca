#pragma once

#include <vector>

#include "compute/cuda/raii.hpp"
#include "tests/support/overlap.hpp"

namespace eckart::compute::cuda {

using TimingEvent = Event;
inline TimingEvent make_timing_event() {
  return ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, unsigned(cudaEventDefault));
}

/// The times of a lane's work, between two events each.
class SpanRecorder {
 public:
  void begin(test::BusySpan::Engine engine, cudaStream_t stream) {
    pairs_.push_back({engine, make_timing_event(), make_timing_event()});
    ECKART_CUDA_CHECK(cudaEventRecord(pairs_.back().begin.get(), stream));
  }
  /// Ends the last span.
  void end(cudaStream_t stream) {
    ECKART_CUDA_CHECK(cudaEventRecord(pairs_.back().end.get(), stream));
  }
  /// Times in milliseconds after `origin`, an event of the same device. All recorded work must have
  /// ended.
  std::vector<test::BusySpan> read(const TimingEvent& origin) const {
    std::vector<test::BusySpan> spans;
    for (const EventPair& pair : pairs_)
      spans.push_back({pair.engine, since(origin, pair.begin), since(origin, pair.end)});
    return spans;
  }

 private:
  struct EventPair {
    test::BusySpan::Engine engine;
    TimingEvent begin, end;
  };
  static double since(const TimingEvent& origin, const TimingEvent& event) {
    float ms = 0;
    ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, origin.get(), event.get()));
    return double(ms);
  }
  std::vector<EventPair> pairs_;
};

}  // namespace eckart::compute::cuda
