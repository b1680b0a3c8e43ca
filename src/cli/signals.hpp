#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace eckart::cli {

/// While it lives, the first SIGHUP, SIGINT or SIGTERM calls `on_stop`, on a thread of its own, and
/// a second one ends the process at once. With `on_reload`, each SIGHUP calls that instead; each
/// SIGUSR1 calls `on_ask`. A signal that the process was started to ignore stays ignored. One at a
/// time.
class StopSignals {
 public:
  StopSignals(std::function<void(int signal)> on_stop, std::function<void()> on_ask,
              std::function<void()> on_reload = {});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The signal that came first; 0 when none has.
  int received() const;

 private:
  void run();

  const std::function<void(int)> on_stop_;
  const std::function<void()> on_ask_, on_reload_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace eckart::cli
