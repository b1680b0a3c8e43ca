#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace eckart::cli {

/// While it lives, the first SIGHUP, SIGINT or SIGTERM calls `on_stop`, on a thread of its own, and
/// a second one ends the process at once. Where the process still lives after `max_shutdown` from
/// the first one on, it ends with 128 + the signal, whatever its threads wait for. With
/// `on_reload`, each SIGHUP calls that instead; each SIGUSR1 calls `on_ask`. A signal that the
/// process was started to ignore stays ignored; one that came early, as EarlySignals has it,
/// counts. One at a time.
class StopSignals {
 public:
  struct Actions {
    std::function<void(int signal)> on_stop;
    std::function<void()> on_ask;
    std::function<void()> on_reload{};  ///< may be empty
    std::function<std::chrono::seconds()> max_shutdown;
    /// What is waited for, for the log; empty if that is not known. Must not wait itself.
    std::function<std::string()> waits_for;
  };
  explicit StopSignals(Actions actions);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came first; 0 when none has.
  int received() const;

 private:
  void run();
  void limit_shutdown();
  bool has_ended_within(std::chrono::seconds time);

  const Actions actions_;
  std::atomic<bool> ended_{false};
  std::thread thread_, limit_;
};

}  // namespace eckart::cli
