#pragma once

#include <chrono>

#include "core/instant.hpp"

namespace eckart::io {

/// When to scan the whole tree of a watch. The caller passes the time.
class ScanSchedule {
 public:
  using Duration = std::chrono::nanoseconds;

  /// `min_pause` applies after a scan that missed something.
  ScanSchedule(Duration period, Duration min_pause) : period_(period), min_pause_(min_pause) {}

  void set_period(Duration period) { period_ = period; }
  /// Requests a scan as soon as possible, after a scan that is running.
  void request() { is_requested_ = true; }
  /// A file was missed. Scans again soon. A scan that is running counts as incomplete.
  void report_missed_file() { has_missed_ = true; }

  bool is_running() const { return is_running_; }
  /// Whether at least one scan missed nothing.
  bool has_complete_scan() const { return has_complete_scan_; }
  /// When the next scan is due; Instant::max() while a scan is running.
  Instant next_scan_at() const;
  void begin();
  /// `scan_time` excludes waits. `is_complete`: everything could be read.
  void end(Instant now, Duration scan_time, bool is_complete);

 private:
  Duration period_;
  const Duration min_pause_;
  bool is_requested_ = true, has_missed_ = false, is_running_ = false, has_complete_scan_ = false;
  Instant finished_at_{};
  Duration scan_time_{};
};

}  // namespace eckart::io
