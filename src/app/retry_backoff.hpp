#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/instant.hpp"
#include "files/file_state.hpp"

namespace eckart::app {

/// Delays retries of inputs that could not be moved or deleted, and logs each of them once,
/// although scans find them again. Thread-safe.
class RetryBackoff {
 public:
  void warn_once(const std::filesystem::path& input, const std::string& reason);
  /// Records that the input could not be removed: while it is unchanged, it is not due for 1, 2, 4
  /// ... 30 s. Without the delay, an attempt that claims and restores the file would look like a
  /// change and trigger the next attempt at once.
  void delay_retry(const std::filesystem::path& input, const files::FileState& state, Instant now);
  bool is_due(const std::filesystem::path& input, const files::FileState& state, Instant now) const;
  /// Removes the input: a later failure is logged again.
  void forget(const std::filesystem::path& input);

 private:
  struct Delay {
    files::FileState state;
    std::chrono::milliseconds wait{0};
    Instant due{};
  };

  mutable std::mutex mutex_;
  std::unordered_set<std::string> warned_;
  std::unordered_map<std::string, Delay> delays_;
};

}  // namespace eckart::app
