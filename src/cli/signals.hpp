#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace eckart::cli {

/// While it lives, the first SIGINT or SIGTERM calls `on_stop`, on a thread of its own, and a second one ends the
/// process at once. Must be made before the process's other threads, which then leave these signals to it.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Starts listening.
  void listen(std::function<void(int signal)> on_stop);

  /// The signal that came first; 0 when none has.
  int received() const { return received_; }

 private:
  void run();

  std::function<void(int)> on_stop_;
  std::atomic<int> received_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace eckart::cli
