#include "io/watch/scan_schedule.hpp"

#include <algorithm>

namespace eckart::io {

namespace {
constexpr int kMinPauseFactor =
    // The pause is at least this many times the scan time, so that a huge folder is not scanned all
    // the time.
    10;
}

Instant ScanSchedule::next() const {
  if (is_running_) return Instant::max();
  if (is_requested_) return Instant::min();
  const Duration pause = std::max(has_missed_ ? std::min(min_pause_, period_) : period_,
                                  kMinPauseFactor * scan_duration_);
  return finished_at_ + std::chrono::duration_cast<Instant::duration>(pause);
}

void ScanSchedule::began() {
  is_running_ = true;
  is_requested_ = has_missed_ = false;
}

void ScanSchedule::ended(Instant now, Duration work, bool all) {
  is_running_ = false;
  is_complete_ = is_complete_ || (all && !has_missed_);
  finished_at_ = now;
  scan_duration_ = work;
}

}  // namespace eckart::io
