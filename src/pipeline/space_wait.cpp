#include "pipeline/space_wait.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "flow/pause.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {

SpaceMonitor::SpaceMonitor(bool is_enabled, std::chrono::milliseconds poll_interval,
                           std::stop_token stop)
    : is_enabled_(is_enabled), poll_interval_(poll_interval), stop_(std::move(stop)) {}

bool SpaceMonitor::should_wait(const EnvironmentError& error) const {
  return is_enabled_ && error.remedy() == EnvironmentError::Remedy::free_disk_space;
}

std::string SpaceMonitor::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

bool SpaceMonitor::add(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (waiting_++ > 0) return false;
  reason_ = reason;
  return true;
}

bool SpaceMonitor::pause() const { return flow::pause(poll_interval_, stop_); }

bool SpaceMonitor::remove() {
  const std::lock_guard lock(mutex_);
  if (--waiting_ > 0) return false;
  reason_.clear();
  return true;
}

SpaceWait::~SpaceWait() {
  if (has_started_) monitor_.remove();
}

void SpaceWait::pause(const EnvironmentError& error) {
  if (!monitor_.should_wait(error)) throw EnvironmentError(error);
  const std::string reason = text::printable_message(error.what());
  if (!std::exchange(has_started_, true) && monitor_.add(reason))
    spdlog::warn("{}; waiting for free disk space", reason);
  if (!monitor_.pause()) throw EnvironmentError(error);
}

void SpaceWait::end() {
  if (std::exchange(has_started_, false) && monitor_.remove())
    spdlog::warn("disk space is available again; continuing");
}

}  // namespace eckart::pipeline
