#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace eckart::telemetry {

/// How far a run is. `total` is known once everything has been listed.
struct ProgressState {
  std::int64_t done = 0;  ///< images finished, failures included
  std::int64_t failed = 0;
  std::int64_t total = 0;  ///< found so far
  bool total_is_final = false;
  std::int64_t skipped = 0;  ///< of those finished; takes no time to speak of, so no rate
  std::string bottleneck{};  ///< "write 97 % busy": what limits the rate; empty: not known
};

/// One line of at most `width` columns, tqdm's way: share, bar, done/total, elapsed<remaining,
/// rate, failures. What does not fit is left out, the least telling first.
std::string progress_line(const ProgressState& state, double elapsed_s, int width);

/// Draws the progress line on stderr ten times a second, on a thread of its own, until destroyed;
/// the line is erased then. Lines of the log (see log.hpp) come above it. One bar at a time;
/// `state` is called on the bar's thread and must not throw.
class ProgressBar {
 public:
  explicit ProgressBar(std::function<ProgressState()> state);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void run();

  const std::function<ProgressState()> state_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

/// Whether a bar can be drawn: stderr is a terminal that can move its cursor.
bool stderr_is_terminal();

}  // namespace eckart::telemetry
