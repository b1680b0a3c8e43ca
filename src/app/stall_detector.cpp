#include "app/stall_detector.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "flow/pause.hpp"
#include "text/printable.hpp"

namespace eckart::app {

StallDetector::StallDetector(FindStall find, Listener listener, std::chrono::milliseconds interval)
    : find_stall_(std::move(find)),
      listener_(std::move(listener)),
      interval_(interval),
      thread_(
          "stalls", 1, [this](int) { run(); }, [](const std::exception_ptr&) {}) {}

StallDetector::~StallDetector() { stop_.request_stop(); }

void StallDetector::run() {
  const std::stop_token stop = stop_.get_token();
  while (flow::pause(interval_, stop)) {
    try {
      check_for_stall();
    } catch (const std::exception& error) {  // the next check follows
      spdlog::error("stall check failed: {}", text::printable_message(error.what()));
    }
  }
}

void StallDetector::check_for_stall() {
  const std::optional<pipeline::Activity::Stall> stall = find_stall_();
  const bool is_reported = stall && reported_ && stall->stage == reported_->stage;
  if (reported_ && !is_reported) {
    const pipeline::Activity::Stall ended = *std::exchange(reported_, std::nullopt);
    if (listener_.on_end) listener_.on_end(ended);
  }
  if (stall && !is_reported) {
    reported_ = stall;
    listener_.on_stall(*stall);
  }
  if (!stall && listener_.on_healthy) listener_.on_healthy();
}

}  // namespace eckart::app
