#pragma once

#include <spdlog/spdlog.h>

#include <chrono>

namespace eckart::app {

/// Logs that a run or service was asked to stop.
inline void log_stop(std::chrono::seconds shutdown_timeout) {
  spdlog::info("stopping: writing computed images for at most {} s; a second signal exits at once",
               shutdown_timeout.count());
}

}  // namespace eckart::app
