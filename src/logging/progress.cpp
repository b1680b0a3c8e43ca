#include "logging/progress.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "logging/terminal_line.hpp"
#include "text/format_number.hpp"
#include "text/printable.hpp"

namespace eckart::logging {
namespace {

constexpr int kMinBarColumns = 6;
constexpr auto kRedrawInterval = std::chrono::milliseconds(100);

/// A clock that changes every second: 02:05, 3:02:05, 4d03h.
std::string clock_text(double seconds) {
  constexpr double kMaxShown_s = 1000.0 * 86400;
  if (!(seconds >= 0)) return "?";
  if (seconds >= kMaxShown_s) return ">999d";
  const int s = int(seconds);
  if (s < 3600) return fmt::format("{:02}:{:02}", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}d{:02}h", s / 86400, s / 3600 % 24);
}

/// Rounded down, so that 100 % means all images.
int percent_done(const telemetry::ProgressState& state) {
  if (state.done >= state.total) return 100;
  return std::min(99, int(100.0 * double(state.done) / double(state.total)));
}

std::string bar_text(const telemetry::ProgressState& state, int columns) {
  const double share = std::min(1.0, double(state.done) / double(state.total));
  const auto filled = std::size_t(share * columns);
  return std::string(filled, '#') + std::string(std::size_t(columns) - filled, '.');
}

std::string truncated(std::string_view line, int width) {
  return std::string(line.substr(0, std::size_t(std::max(width, 0))));
}

/// The progress line if the total is final.
std::string known_total_line(const telemetry::ProgressState& state, double elapsed_s, double rate,
                             int width) {
  const double remaining_s =
      rate > 0 ? double(std::max<std::int64_t>(0, state.total - state.done)) / rate : std::nan("");
  const std::string percent = fmt::format("{:3}%", percent_done(state));
  const std::string count = fmt::format("{}/{}", state.done, state.total);
  const std::string failed = state.failed > 0 ? fmt::format(", {} failed", state.failed) : "";
  const std::string times = fmt::format("{}<{}", clock_text(elapsed_s), clock_text(remaining_s));
  const std::string& note = state.activity.empty() ? state.bottleneck : state.activity;
  const std::string reason = note.empty() ? "" : ", " + text::printable(note);
  const std::string shorter =
      fmt::format("{} [{}, {}{}]", count, times, text::format_image_rate(rate), failed);
  const std::string details =
      fmt::format("{} [{}, {}{}{}]", count, times, text::format_image_rate(rate), reason, failed);

  const int bar = width - int(percent.size() + details.size()) - 3;
  if (bar >= kMinBarColumns) return percent + "|" + bar_text(state, bar) + "| " + details;
  for (const std::string& line : {percent + " " + details, percent + " " + shorter,
                                  fmt::format("{} {} [{}{}]", percent, count, times, failed),
                                  percent + " " + count + failed, percent + " " + count}) {
    if (int(line.size()) <= width) return line;
  }
  return truncated(percent, width);
}

/// The progress line while inputs are still being listed, without share and remaining time.
std::string unknown_total_line(const telemetry::ProgressState& state, double elapsed_s, double rate,
                               int width) {
  const std::string failed = state.failed > 0 ? fmt::format(", {} failed", state.failed) : "";
  const std::string found = state.total > state.done ? fmt::format(" of {}+", state.total) : "";
  const std::string elapsed = clock_text(elapsed_s);
  const std::string& note = state.activity.empty() ? state.bottleneck : state.activity;
  const std::string reason = note.empty() ? "" : ", " + text::printable(note);
  for (const std::string& line :
       {fmt::format("{}{} images [{}, {}{}{}]", state.done, found, elapsed,
                    text::format_image_rate(rate), reason, failed),
        fmt::format("{}{} images [{}, {}{}]", state.done, found, elapsed,
                    text::format_image_rate(rate), failed),
        fmt::format("{} images [{}, {}{}]", state.done, elapsed, text::format_image_rate(rate),
                    failed),
        fmt::format("{} images [{}{}]", state.done, elapsed, failed),
        fmt::format("{} images{}", state.done, failed), fmt::format("{} images", state.done)}) {
    if (int(line.size()) <= width) return line;
  }
  return truncated(std::to_string(state.done), width);
}

}  // namespace

std::string progress_line(const telemetry::ProgressState& state, double elapsed_s, int width) {
  const double rate = elapsed_s > 0 ? double(state.done - state.skipped) / elapsed_s : 0.0;
  const bool is_known = state.is_total_final && state.total > 0;
  return (is_known ? known_total_line : unknown_total_line)(state, elapsed_s, rate, width);
}

ProgressBar::ProgressBar(std::function<telemetry::ProgressState()> state)
    : state_(std::move(state)), start_(Clock::now()), thread_([this] { run(); }) {}

ProgressBar::~ProgressBar() {
  {
    const std::lock_guard lock(mutex_);
    should_stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  stderr_line().erase();
}

void ProgressBar::run() {
  std::unique_lock lock(mutex_);
  do {
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    // The last column stays empty, because some terminals wrap as soon as it is written.
    stderr_line().show(progress_line(state_(), elapsed.count(), terminal_width(STDERR_FILENO) - 1));
  } while (!wake_.wait_for(lock, kRedrawInterval, [this] { return should_stop_; }));
}

bool stderr_is_terminal() {
  if (!isatty(STDERR_FILENO)) return false;
  const char* term = std::getenv("TERM");  // describes the terminal; not a setting of eckart
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

}  // namespace eckart::logging
