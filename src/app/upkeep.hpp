#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "app/job.hpp"
#include "io/quarantine.hpp"

namespace eckart::app {

/// Keeps what a watch leaves behind from growing for ever: its quarantine, and what its ledger
/// knows of results that were taken away.
class Upkeep {
 public:
  explicit Upkeep(const io::Quarantine& quarantine) : quarantine_(quarantine) {}

  /// There is more in the quarantine; from any thread.
  void quarantined() { has_quarantined_ = true; }
  /// To be called every second or so, by one thread; does a little at a time, and returns soon
  /// after `stop`. `job` may be none.
  void run(Job* job, const std::stop_token& stop);

 private:
  using Clock = std::chrono::steady_clock;
  void sweep(Job* job);
  void forget_gone(Job& job, const std::stop_token& stop);

  const io::Quarantine& quarantine_;
  std::atomic<bool> has_quarantined_{true};  // since the last sweep
  Clock::time_point swept_{}, began_to_forget_{};
  Clock::duration sweep_took_{};
  std::optional<std::string> looked_at_;  // by forget_gone(), which is not at its end
};

}  // namespace eckart::app
