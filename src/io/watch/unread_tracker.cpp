#include "io/watch/unread_tracker.hpp"

#include <algorithm>
#include <utility>

namespace eckart::io {
namespace {

// A file that is renamed within this time was being written, and is not counted.
constexpr std::chrono::seconds kCountDelay{10};

}  // namespace

void UnreadTracker::on_added(std::string_view file_name, Instant now) {
  if (present_.add(file_name)) next_update_ = std::min(next_update_, now + kCountDelay);
}

void UnreadTracker::end_scan(Instant now) {
  present_ = std::exchange(scanned_, {});
  next_update_ = now;
}

void UnreadTracker::clear() {
  present_ = {};
  next_update_ = Instant::max();  // otherwise the files would be new again when they are back
}

bool UnreadTracker::update(Instant now) {
  if (now < next_update_) return false;
  next_update_ = Instant::max();
  const std::int64_t count_new = present_.count_new_since(counted_);
  counted_ = present_;
  total_ += count_new;
  has_new_files_ = (has_new_files_ || count_new > 0) && present_.total() > 0;
  if (!has_new_files_) return false;
  if (now < next_log_) {
    next_update_ = next_log_;
    return false;
  }
  has_new_files_ = false;
  next_log_ = now + log_interval_;
  return true;
}

}  // namespace eckart::io
