#include "io/watch/scan_schedule.hpp"

#include <algorithm>

namespace eckart::io {

namespace {
// The pause is at least this many times the scan time, so that a huge folder is not scanned all the
// time.
constexpr int kMinPauseFactor = 10;
}  // namespace

Instant ScanSchedule::next_scan_at() const {
  if (is_running_) return Instant::max();
  if (is_requested_) return Instant::min();
  const Duration pause =
      std::max(has_missed_ ? std::min(min_pause_, period_) : period_, kMinPauseFactor * scan_time_);
  return finished_at_ + std::chrono::duration_cast<Instant::duration>(pause);
}

void ScanSchedule::begin() {
  is_running_ = true;
  is_requested_ = has_missed_ = false;
}

void ScanSchedule::end(Instant now, Duration scan_time, bool is_complete) {
  is_running_ = false;
  has_complete_scan_ = has_complete_scan_ || (is_complete && !has_missed_);
  finished_at_ = now;
  scan_time_ = scan_time;
}

}  // namespace eckart::io
