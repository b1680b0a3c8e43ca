#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace eckart::cli {

/// Handles signals during its lifetime. The first SIGHUP, SIGINT or SIGTERM calls `on_stop` on a
/// separate thread. A second signal ends the process immediately. If the process still runs
/// `shutdown_timeout` after the first signal, it exits with 128 + signal, even if its threads hang.
/// If `on_reload` is set, each SIGHUP calls it instead. Each SIGUSR1 calls `on_status_request`. A
/// signal that was ignored at the start of the process stays ignored. A signal recorded before the
/// construction (EarlySignalMode) is handled too. At most one instance may exist at a time.
class SignalHandler {
 public:
  struct Actions {
    std::function<void(int signal)> on_stop;
    std::function<void()> on_status_request;
    std::function<void()> on_reload{};  ///< may be empty
    std::function<std::chrono::seconds()> shutdown_timeout;
    /// Describes the pending work for the log; empty if unknown. Must not block.
    std::function<std::string()> pending_work;
  };
  explicit SignalHandler(Actions actions);
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  /// Returns the first stop signal; 0 if there was none.
  int received() const;

 private:
  void run();
  void limit_shutdown();
  bool wait_for_end(std::chrono::seconds time);

  const Actions actions_;
  std::atomic<bool> ended_{false};
  std::thread thread_, limit_thread_;
};

}  // namespace eckart::cli
