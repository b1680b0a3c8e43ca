#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::cuda {

/// A moment that a device and the host's clock both know: an event with its time.
struct Anchor {
  Event event;
  DeviceSpan::Time time;
  std::chrono::nanoseconds error;
};

/// Sets a device's clock against the host's, again after a while, since they drift. On a stream of
/// its own, that nothing waits for.
class DeviceClock {
 public:
  /// Without `on` it does nothing. Made on its device's thread.
  explicit DeviceClock(bool on);
  /// Of lately; null where it is off.
  std::shared_ptr<const Anchor> anchor();

 private:
  std::shared_ptr<Anchor> measure() const;

  Stream stream_;  // none where it is off
  std::shared_ptr<const Anchor> latest_;
};

/// When what one batch queued was done: an event before and one behind it. Without an anchor
/// nothing is recorded.
class Timeline {
 public:
  /// Forgets what was there.
  void restart(std::shared_ptr<const Anchor> anchor);
  void begin(DeviceSpan::Kind kind, int planes, cudaStream_t stream);
  /// Of what was begun last of this kind.
  void end(DeviceSpan::Kind kind, cudaStream_t stream);
  /// Whatever is begun from here on is done again.
  void mark_again() { again_ = true; }
  /// Everything must have ended, but for what was never queued.
  std::vector<DeviceSpan> read() const;

 private:
  struct Mark {
    Event begin, end;
    DeviceSpan::Kind kind{};
    int planes = 0;
    bool again = false, ended = false;
  };
  DeviceSpan::Time time_of(const Event& event) const;

  std::shared_ptr<const Anchor> anchor_;
  std::deque<Mark> marks_;  // with those of batches before, whose events are used again
  std::size_t used_ = 0;
  bool again_ = false;
};

}  // namespace eckart::cuda
