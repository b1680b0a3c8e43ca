#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "flow/workers.hpp"
#include "pipeline/activity.hpp"

namespace eckart::app {

/// Looks once per interval, on a thread of its own, whether a stage of a pipeline has stalled.
class StallDetector {
  static constexpr std::chrono::milliseconds kDefaultInterval{1000};

 public:
  /// What has stalled now, if anything; must not wait.
  using FindStall = std::function<std::optional<Activity::Stall>()>;
  /// Told once of each stall, and of its end, if it has one.
  struct Listener {
    std::function<void(const Activity::Stall&)> on_stall, on_end;
    /// Called after each look in which nothing has stalled; may be empty.
    std::function<void()> on_healthy{};
  };
  StallDetector(FindStall find, Listener listener,
                std::chrono::milliseconds interval = kDefaultInterval);
  ~StallDetector();
  StallDetector(const StallDetector&) = delete;
  StallDetector& operator=(const StallDetector&) = delete;

 private:
  void run();
  void check_for_stall();

  const FindStall find_stall_;
  const Listener listener_;
  const std::chrono::milliseconds interval_;
  std::optional<Activity::Stall> reported_;
  std::stop_source stop_;
  flow::Workers thread_;  // last: it uses all the others
};

}  // namespace eckart::app
