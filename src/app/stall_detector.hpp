#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include "flow/workers.hpp"
#include "pipeline/activity.hpp"

namespace eckart::app {

/// Checks once per interval, on its own thread, whether a stage of a pipeline has stalled.
class StallDetector {
  static constexpr std::chrono::milliseconds kDefaultInterval{1000};

 public:
  /// Returns the current stall, if any. Must not block.
  using FindStall = std::function<std::optional<pipeline::Activity::Stall>()>;
  /// Called once for each stall, and once for its end if it ends.
  struct Listener {
    std::function<void(const pipeline::Activity::Stall&)> on_stall, on_end;
    /// Called after each check without a stall; may be empty.
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
  std::optional<pipeline::Activity::Stall> reported_;
  std::stop_source stop_;
  flow::Workers thread_;  // last: uses all other members
};

}  // namespace eckart::app
