#pragma once

#include <chrono>

#include "io/watch/instant.hpp"

namespace eckart::io {

/// When a watch's whole tree is looked through. Knows no clock: is told the time.
class ScanSchedule {
 public:
  using Duration = std::chrono::nanoseconds;

  /// `least` is between two scans of which the first has missed something.
  ScanSchedule(Duration period, Duration least) : period_(period), min_pause_(least) {}

  void set_period(Duration period) { period_ = period; }
  /// One as soon as possible: after the one that is running.
  void request() { is_requested_ = true; }
  /// Something escaped: one soon. A scan during which this happens has not found all.
  void missed() { has_missed_ = true; }

  bool running() const { return is_running_; }
  /// A scan has found all that there was.
  bool complete() const { return is_complete_; }
  /// When one is to begin; while one is running, that is not known.
  Instant next() const;
  void began();
  /// It took `work`, without what it waited for; `all`: there was nothing that it could not read.
  void ended(Instant now, Duration work, bool all);

 private:
  Duration period_;
  const Duration min_pause_;
  bool is_requested_ = true, has_missed_ = false, is_running_ = false, is_complete_ = false;
  Instant finished_at_{};
  Duration scan_duration_{};
};

}  // namespace eckart::io
