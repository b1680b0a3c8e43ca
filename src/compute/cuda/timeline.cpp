#include "compute/cuda/timeline.hpp"

#include <algorithm>
#include <cstdlib>

#include "compute/cuda/timing_event.hpp"
#include "core/instant.hpp"

namespace eckart::compute::cuda {
namespace {

using std::chrono::nanoseconds;

// In this time clocks drift by a few microseconds, and a float of milliseconds is exact to 0.06 us.
constexpr std::chrono::seconds kSyncInterval{1};
constexpr int kSyncAttempts = 4;  // the first attempt is slow

}  // namespace

DeviceClock::DeviceClock(bool is_enabled) {
  if (!is_enabled) return;
  stream_ = ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
  latest_ = measure();
}

std::shared_ptr<const ClockSyncPoint> DeviceClock::sync_point() {
  if (!latest_ || Clock::now() - latest_->time < kSyncInterval) return latest_;
  auto next = measure();
  // The drift since the last sync point is the expected drift until the next.
  const nanoseconds drift = latest_->time + elapsed(latest_->event, next->event) - next->time;
  latest_ = std::make_shared<ClockSyncPoint>(
      ClockSyncPoint{std::move(next->event), next->time, next->error + std::chrono::abs(drift)});
  return latest_;
}

/// The event lies between two readings of the host's clock. Its time is their middle, with half of
/// the difference as error. Returns the best of several attempts.
std::shared_ptr<ClockSyncPoint> DeviceClock::measure() const {
  auto best = std::make_shared<ClockSyncPoint>();
  for (int i = 0; i < kSyncAttempts; ++i) {
    Event event = make_timing_event();
    const auto before = Clock::now();
    ECKART_CUDA_CHECK(cudaEventRecord(event.get(), stream_.get()));
    ECKART_CUDA_CHECK(cudaEventSynchronize(event.get()));
    const nanoseconds half = (Clock::now() - before) / 2;
    if (!best->event || half < best->error) *best = {std::move(event), before + half, half};
  }
  return best;
}

void Timeline::restart(std::shared_ptr<const ClockSyncPoint> sync_point) {
  sync_point_ = std::move(sync_point);
  used_spans_ = 0;
  is_recompute_ = false;
}

void Timeline::begin(DeviceSpan::Kind kind, int planes, cudaStream_t stream) {
  if (!sync_point_) return;
  if (used_spans_ == spans_.size()) spans_.push_back({make_timing_event(), make_timing_event()});
  TimedSpan& span = spans_[used_spans_++];
  span.kind = kind;
  span.planes = planes;
  span.is_recompute = is_recompute_;
  span.has_ended = false;
  ECKART_CUDA_CHECK(cudaEventRecord(span.begin.get(), stream));
}

void Timeline::end(DeviceSpan::Kind kind, cudaStream_t stream) {
  for (std::size_t i = used_spans_; i-- > 0;) {
    TimedSpan& span = spans_[i];
    if (span.kind != kind) continue;
    ECKART_CUDA_CHECK(cudaEventRecord(span.end.get(), stream));
    span.has_ended = true;
    return;
  }
}

std::vector<DeviceSpan> Timeline::read() const {
  std::vector<DeviceSpan> spans;
  for (std::size_t i = 0; i < used_spans_; ++i) {
    const TimedSpan& span = spans_[i];
    if (span.has_ended)
      spans.push_back({span.kind, span.planes, span.is_recompute, time_of(span.begin),
                       time_of(span.end), sync_point_->error});
  }
  return spans;
}

DeviceSpan::Time Timeline::time_of(const Event& event) const {
  return sync_point_->time + elapsed(sync_point_->event, event);
}

}  // namespace eckart::compute::cuda
