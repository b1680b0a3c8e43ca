#include "io/watch/scan_schedule.hpp"

#include <algorithm>

namespace eckart::io {

namespace {
constexpr int kRest = 10;  // times the work, at least, so that a huge folder is not always scanned
}

Instant ScanSchedule::next() const {
  if (running_) return Instant::max();
  if (requested_) return Instant::min();
  const Duration pause = std::max(missed_ ? std::min(least_, period_) : period_, kRest * work_);
  return ended_ + std::chrono::duration_cast<Instant::duration>(pause);
}

void ScanSchedule::began() {
  running_ = true;
  requested_ = missed_ = false;
}

void ScanSchedule::ended(Instant now, Duration work, bool all) {
  running_ = false;
  complete_ = complete_ || (all && !missed_);
  ended_ = now;
  work_ = work;
}

}  // namespace eckart::io
