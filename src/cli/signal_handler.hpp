#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace eckart::cli {

/// While it lives, the first SIGHUP, SIGINT or SIGTERM calls `on_stop`, on a thread of its own, and
/// a second one ends the process at once. Where the process still lives after `shutdown_timeout`
/// from the first one on, it ends with 128 + the signal, whatever its threads wait for. With
/// `on_reload`, each SIGHUP calls that instead; each SIGUSR1 calls `on_status_request`. A signal
/// that the process was started to ignore stays ignored; one that came early, as EarlySignalMode
/// has it, counts. One at a time.
class SignalHandler {
 public:
  struct Actions {
    std::function<void(int signal)> on_stop;
    std::function<void()> on_status_request;
    std::function<void()> on_reload{};  ///< may be empty
    std::function<std::chrono::seconds()> shutdown_timeout;
    /// What is waited for, for the log; empty if that is not known. Must not wait itself.
    std::function<std::string()> pending_work;
  };
  explicit SignalHandler(Actions actions);
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  /// The signal that came first; 0 when none has.
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
