#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>

#include "core/instant.hpp"

namespace eckart::io {

/// Wakes the thread that waits for ready files. Thread-safe.
class WakeEvent {
 public:
  void signal() {
    {
      const std::lock_guard lock(mutex_);
      ++signal_count_;
    }
    changed_.notify_all();
  }
  std::uint64_t signal_count() const {
    const std::lock_guard lock(mutex_);
    return signal_count_;
  }
  /// Waits until signal_count() differs from `previous_count`, until the time, or until a stop
  /// request.
  void wait(std::uint64_t previous_count, std::optional<Instant> until,
            const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto is_signaled = [&] { return signal_count_ != previous_count; };
    if (until) {
      changed_.wait_until(lock, stop, *until, is_signaled);
    } else {
      changed_.wait(lock, stop, is_signaled);
    }
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t signal_count_ = 0;
};

}  // namespace eckart::io
