#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "compute/cuda/raii.hpp"
#include "compute/device_span.hpp"

namespace eckart::cuda {

/// A moment that a device and the host's clock both know: an event with its time.
struct ClockSyncPoint {
  Event event;
  DeviceSpan::Time time;
  std::chrono::nanoseconds error;
};

/// Sets a device's clock against the host's, again after a while, since they drift. On a stream of
/// its own, that nothing waits for.
class DeviceClock {
 public:
  /// Without `on` it does nothing. Made on its device's thread.
  explicit DeviceClock(bool is_enabled);
  /// Of lately; null where it is off.
  std::shared_ptr<const ClockSyncPoint> sync_point();

 private:
  std::shared_ptr<ClockSyncPoint> measure() const;

  Stream stream_;  // none where it is off
  std::shared_ptr<const ClockSyncPoint> latest_;
};

/// When what one batch queued was done: an event before and one behind it. Without an anchor
/// nothing is recorded.
class Timeline {
 public:
  /// Forgets what was there.
  void restart(std::shared_ptr<const ClockSyncPoint> sync_point);
  void begin(DeviceSpan::Kind kind, int planes, cudaStream_t stream);
  /// Of what was begun last of this kind.
  void end(DeviceSpan::Kind kind, cudaStream_t stream);
  /// Whatever is begun from here on is done again.
  void begin_recompute() { is_recompute_ = true; }
  /// Everything must have ended, but for what was never queued.
  std::vector<DeviceSpan> read() const;

 private:
  struct TimedSpan {
    Event begin, end;
    DeviceSpan::Kind kind{};
    int planes = 0;
    bool is_recompute = false, ended = false;
  };
  DeviceSpan::Time time_of(const Event& event) const;

  std::shared_ptr<const ClockSyncPoint> sync_point_;
  std::deque<TimedSpan> spans_;  // with those of batches before, whose events are used again
  std::size_t used_spans_ = 0;
  bool is_recompute_ = false;
};

}  // namespace eckart::cuda
