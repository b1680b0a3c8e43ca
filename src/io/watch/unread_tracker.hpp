#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/instant.hpp"
#include "io/unread_files.hpp"

namespace eckart::io {

/// The files of a watch that are not read because of their names. Events and scans report them; no
/// path is stored. A full scan corrects what events missed or reported twice. Used by one thread,
/// which passes the time.
class UnreadTracker {
 public:
  /// `log_interval`: the minimum time between two log lines.
  explicit UnreadTracker(Clock::duration log_interval) : log_interval_(log_interval) {}

  void on_added(std::string_view file_name, Instant now);
  void on_removed(std::string_view file_name) { present_.remove(file_name); }
  // A full scan. Events during the scan are found by the next one.
  void begin_scan() { scanned_ = {}; }
  void on_scanned(std::string_view file_name) { scanned_.add(file_name); }
  void end_scan(Instant now);
  /// The folder is not available any more.
  void clear();

  /// Counts the new files if it is time for that. Returns whether to log present().
  bool update(Instant now);
  /// When to call update() again.
  Instant next_update() const { return next_update_; }

  const UnreadFiles& present() const { return present_; }
  /// All files that were present so far.
  std::int64_t total() const { return total_; }

 private:
  const Clock::duration log_interval_;
  UnreadFiles present_, scanned_;
  UnreadFiles counted_;  // those in total_ that were present in the last update()
  std::int64_t total_ = 0;
  bool has_new_files_ = false;  // since the last log line
  Instant next_update_ = Instant::max(), next_log_ = Instant::min();
};

}  // namespace eckart::io
