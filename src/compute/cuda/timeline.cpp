#include "compute/cuda/timeline.hpp"

#include <algorithm>
#include <cstdlib>

namespace eckart::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// Clocks drift by some microseconds in this time, and a float of milliseconds is exact to 0.06 us.
constexpr std::chrono::seconds kAnchorLife{1};
constexpr int kTries = 4;  // the first finds things asleep

Event make_timing_event() {
  return make_handle<Event>(cudaEventCreateWithFlags, unsigned(cudaEventDefault));
}

nanoseconds elapsed(const Event& from, const Event& to) {
  float ms = 0;
  ECKART_CUDA_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
  return nanoseconds(std::int64_t(1e6 * double(ms)));
}

}  // namespace

DeviceClock::DeviceClock(bool on) {
  if (!on) return;
  stream_ = make_handle<Stream>(cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  latest_ = measure();
}

std::shared_ptr<const Anchor> DeviceClock::anchor() {
  if (!latest_ || Clock::now() - latest_->time < kAnchorLife) return latest_;
  auto next = measure();
  // By how much the last had gone wrong meanwhile, the next will as well.
  const nanoseconds drift = latest_->time + elapsed(latest_->event, next->event) - next->time;
  latest_ = std::make_shared<Anchor>(
      Anchor{std::move(next->event), next->time, next->error + std::chrono::abs(drift)});
  return latest_;
}

/// The event is somewhere between the two looks at the host's clock: in the middle, or off by half
/// of what is between them. The best of some tries.
std::shared_ptr<Anchor> DeviceClock::measure() const {
  auto best = std::make_shared<Anchor>();
  for (int i = 0; i < kTries; ++i) {
    Event event = make_timing_event();
    const auto before = Clock::now();
    ECKART_CUDA_CHECK(cudaEventRecord(event.get(), stream_.get()));
    ECKART_CUDA_CHECK(cudaEventSynchronize(event.get()));
    const nanoseconds half = (Clock::now() - before) / 2;
    if (!best->event || half < best->error) *best = {std::move(event), before + half, half};
  }
  return best;
}

void Timeline::restart(std::shared_ptr<const Anchor> anchor) {
  anchor_ = std::move(anchor);
  used_ = 0;
  again_ = false;
}

void Timeline::begin(DeviceSpan::Kind kind, int planes, cudaStream_t stream) {
  if (!anchor_) return;
  if (used_ == marks_.size()) marks_.push_back({make_timing_event(), make_timing_event()});
  Mark& mark = marks_[used_++];
  mark.kind = kind;
  mark.planes = planes;
  mark.again = again_;
  mark.ended = false;
  ECKART_CUDA_CHECK(cudaEventRecord(mark.begin.get(), stream));
}

void Timeline::end(DeviceSpan::Kind kind, cudaStream_t stream) {
  for (std::size_t i = used_; i-- > 0;) {
    Mark& mark = marks_[i];
    if (mark.kind != kind) continue;
    ECKART_CUDA_CHECK(cudaEventRecord(mark.end.get(), stream));
    mark.ended = true;
    return;
  }
}

std::vector<DeviceSpan> Timeline::read() const {
  std::vector<DeviceSpan> spans;
  for (std::size_t i = 0; i < used_; ++i) {
    const Mark& mark = marks_[i];
    if (mark.ended)
      spans.push_back({mark.kind, mark.planes, mark.again, time_of(mark.begin), time_of(mark.end),
                       anchor_->error});
  }
  return spans;
}

DeviceSpan::Time Timeline::time_of(const Event& event) const {
  return anchor_->time + elapsed(anchor_->event, event);
}

}  // namespace eckart::cuda
