#pragma once

#include <vector>

#include "compute/cuda/raii.hpp"
#include "tests/support/overlap.hpp"

namespace eckart::cuda {

using TimingEvent = Event;
inline TimingEvent make_timing_event() {
  return make_handle<Event>(cudaEventCreateWithFlags, unsigned(cudaEventDefault));
}

/// When what a lane queues was done: an event before and one behind it.
class SpanRecorder {
 public:
  void begin(testing::BusySpan::Engine engine, cudaStream_t stream) {
    marks_.push_back({engine, make_timing_event(), make_timing_event()});
    ECKART_CUDA_CHECK(cudaEventRecord(marks_.back().begin.get(), stream));
  }
  /// Of what was begun last.
  void end(cudaStream_t stream) {
    ECKART_CUDA_CHECK(cudaEventRecord(marks_.back().end.get(), stream));
  }
  /// In milliseconds after `origin`, an event of the same device; everything must have ended.
  std::vector<testing::BusySpan> read(const TimingEvent& origin) const {
    std::vector<testing::BusySpan> spans;
    for (const Mark& mark : marks_)
      spans.push_back({mark.engine, since(origin, mark.begin), since(origin, mark.end)});
    return spans;
  }

 private:
  struct Mark {
    testing::BusySpan::Engine engine;
    TimingEvent begin, end;
  };
  static double since(const TimingEvent& origin, const TimingEvent& event) {
    float ms = 0;
    ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, origin.get(), event.get()));
    return double(ms);
  }
  std::vector<Mark> marks_;
};

}  // namespace eckart::cuda
