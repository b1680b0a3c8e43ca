#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "telemetry/progress_state.hpp"

namespace eckart::logging {

/// One line of at most `width` columns, tqdm's way: share, bar, done/total, elapsed<remaining,
/// rate, failures. What does not fit is left out, the least telling first.
std::string progress_line(const telemetry::ProgressState& state, double elapsed_s, int width);

/// Draws the progress line on stderr ten times a second, on a thread of its own, until destroyed;
/// the line is erased then. Lines of the log (see log.hpp) come above it. One bar at a time;
/// `state` is called on the bar's thread and must not throw.
class ProgressBar {
 public:
  explicit ProgressBar(std::function<telemetry::ProgressState()> state);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void run();

  const std::function<telemetry::ProgressState()> state_;
  const std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

/// Whether a bar can be drawn: stderr is a terminal that can move its cursor.
bool stderr_is_terminal();

}  // namespace eckart::logging
