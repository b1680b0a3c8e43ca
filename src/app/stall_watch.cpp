#include "app/stall_watch.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <exception>
#include <utility>

#include "core/printable.hpp"
#include "flow/pause.hpp"

namespace eckart::app {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1000};

}  // namespace

StallWatch::StallWatch(Find find, Listener listener)
    : find_(std::move(find)),
      listener_(std::move(listener)),
      thread_(
          "stalls", 1, [this](int) { run(); }, [](const std::exception_ptr&) {}) {}

StallWatch::~StallWatch() { stop_.request_stop(); }

void StallWatch::run() {
  const std::stop_token stop = stop_.get_token();
  while (flow::pause(kBetweenLooks, stop)) {
    try {
      look();
    } catch (const std::exception& error) {  // and looks again
      spdlog::error("whether a stage has stalled is not known: {}",
                    printable_message(error.what()));
    }
  }
}

void StallWatch::look() {
  const std::optional<Activity::Stall> stall = find_();
  const bool is_told = stall && told_ && stall->stage == told_->stage;
  if (told_ && !is_told) {
    const Activity::Stall ended = *std::exchange(told_, std::nullopt);
    if (listener_.on_end) listener_.on_end(ended);
  }
  if (stall && !is_told) {
    told_ = stall;
    listener_.on_stall(*stall);
  }
  if (!stall && listener_.on_well) listener_.on_well();
}

}  // namespace eckart::app
