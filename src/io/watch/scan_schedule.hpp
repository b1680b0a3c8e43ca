#pragma once

#include <chrono>

#include "io/watch/instant.hpp"

namespace eckart::io {

/// When to scan the whole tree of a watch. The caller passes the time.
class ScanSchedule {
 public:
  using Duration = std::chrono::nanoseconds;

  /// `min_pause` applies after a scan that missed something.
  ScanSchedule(Duration period, Duration least) : period_(period), min_pause_(least) {}

  void set_period(Duration period) { period_ = period; }
  /// Requests a scan as soon as possible, after a scan that is running.
  void request() { is_requested_ = true; }
  /// A file was missed. Scans again soon. A scan that is running counts as incomplete.
  void missed() { has_missed_ = true; }

  bool running() const { return is_running_; }
  /// Whether at least one scan missed nothing.
  bool complete() const { return is_complete_; }
  /// When the next scan is due; Instant::max() while a scan is running.
  Instant next() const;
  void began();
  /// `scan_time` excludes waits. `is_complete`: everything could be read.
  void ended(Instant now, Duration work, bool all);

 private:
  Duration period_;
  const Duration min_pause_;
  bool is_requested_ = true, has_missed_ = false, is_running_ = false, is_complete_ = false;
  Instant finished_at_{};
  Duration scan_duration_{};
};

}  // namespace eckart::io
