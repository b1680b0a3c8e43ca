#pragma once

#include <chrono>

#include "io/watch/instant.hpp"

namespace eckart::io {

/// When a watch's whole tree is looked through. Knows no clock: is told the time.
class ScanSchedule {
 public:
  using Duration = std::chrono::nanoseconds;

  /// `least` is between two scans of which the first has missed something.
  ScanSchedule(Duration period, Duration least) : period_(period), least_(least) {}

  void set_period(Duration period) { period_ = period; }
  /// One as soon as possible: after the one that is running.
  void request() { requested_ = true; }
  /// Something escaped: one soon. A scan during which this happens has not found all.
  void missed() { missed_ = true; }

  bool running() const { return running_; }
  /// A scan has found all that there was.
  bool complete() const { return complete_; }
  /// When one is to begin; while one is running, that is not known.
  Instant next() const;
  void began();
  /// It took `work`, without what it waited for; `all`: there was nothing that it could not read.
  void ended(Instant now, Duration work, bool all);

 private:
  Duration period_;
  const Duration least_;
  bool requested_ = true, missed_ = false, running_ = false, complete_ = false;
  Instant ended_{};
  Duration work_{};
};

}  // namespace eckart::io
