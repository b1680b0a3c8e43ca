#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "compute/cuda/raii.hpp"
#include "compute/device_span.hpp"

namespace eckart::compute::cuda {

/// A time on both clocks: a recorded event and its time on the host's clock.
struct ClockSyncPoint {
  Event event;
  DeviceSpan::Time time;
  std::chrono::nanoseconds error;
};

/// Relates a device's clock to the host's clock. Measures again after some time, because the clocks
/// drift. Uses its own stream. Throws as check() does.
class DeviceClock {
 public:
  /// If `is_enabled` is false, nothing is measured. Must be created on a thread whose current
  /// device is the right one.
  explicit DeviceClock(bool is_enabled);
  /// A recent sync point; null if disabled.
  std::shared_ptr<const ClockSyncPoint> sync_point();

 private:
  std::shared_ptr<ClockSyncPoint> measure() const;

  Stream stream_;  // null if disabled
  std::shared_ptr<const ClockSyncPoint> latest_;
};

/// The times of the work queued for one batch, between two events each. Without a sync point
/// nothing is recorded. begin(), end() and read() throw as check() does.
class Timeline {
 public:
  /// Removes all spans. `sync_point` may be null.
  void restart(std::shared_ptr<const ClockSyncPoint> sync_point);
  void begin(DeviceSpan::Kind kind, int planes, cudaStream_t stream);
  /// Ends the last span of this kind.
  void end(DeviceSpan::Kind kind, cudaStream_t stream);
  /// Marks all spans that begin after this call as recomputation.
  void begin_recompute() { is_recompute_ = true; }
  /// Returns the spans that have ended. Their work must be complete.
  std::vector<DeviceSpan> read() const;

 private:
  struct TimedSpan {
    Event begin, end;
    DeviceSpan::Kind kind{};
    int planes = 0;
    bool is_recompute = false, has_ended = false;
  };
  DeviceSpan::Time time_of(const Event& event) const;

  std::shared_ptr<const ClockSyncPoint> sync_point_;
  std::deque<TimedSpan> spans_;  // events are reused for later batches
  std::size_t used_spans_ = 0;
  bool is_recompute_ = false;
};

}  // namespace eckart::compute::cuda
