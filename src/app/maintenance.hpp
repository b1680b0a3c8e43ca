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
class Maintenance {
 public:
  explicit Maintenance(const io::Quarantine& quarantine) : quarantine_(quarantine) {}

  /// There is more in the quarantine; from any thread.
  void on_quarantined() { has_new_quarantined_ = true; }
  /// To be called every second or so, by one thread; does a little at a time, and returns soon
  /// after `stop`. `job` may be none.
  void run(Job* job, const std::stop_token& stop);

 private:
  using Clock = std::chrono::steady_clock;
  void sweep(Job* job);
  void forget_missing_outputs(Job& job, const std::stop_token& stop);

  const io::Quarantine& quarantine_;
  std::atomic<bool> has_new_quarantined_{true};  // since the last sweep
  Clock::time_point last_sweep_{}, last_forget_{};
  Clock::duration sweep_duration_{};
  std::optional<std::string>
      forget_cursor_;  // by forget_missing_outputs(), which is not at its end
};

}  // namespace eckart::app
