#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/instant.hpp"
#include "telemetry/progress_state.hpp"

namespace eckart::logging {

/// The progress line, at most `width` columns, in the format of tqdm: share, bar, done/total,
/// elapsed<remaining, rate, failures. What does not fit is left out, the least important first.
std::string progress_line(const telemetry::ProgressState& state, double elapsed_s, int width);

/// Draws the progress line on stderr ten times per second, on its own thread. The destructor erases
/// the line. Log lines (log.hpp) appear above it. At most one bar at a time. `state` is called on
/// the thread of the bar and must not throw.
class ProgressBar {
 public:
  explicit ProgressBar(std::function<telemetry::ProgressState()> state);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void run();

  const std::function<telemetry::ProgressState()> state_;
  const Instant start_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool should_stop_ = false;
  std::thread thread_;
};

/// Whether stderr is a terminal that can move its cursor, so that a bar can be drawn.
bool stderr_is_terminal();

}  // namespace eckart::logging
