#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "files/file_state.hpp"

namespace eckart::app {

/// Tells of each input that stays where it should not, once: scans find it again and again.
/// Thread-safe.
class RetryBackoff {
 public:
  using Clock = std::chrono::steady_clock;

  void warn_once(const std::filesystem::path& input, const std::string& why);
  /// It was tried, and could not be taken away: as it is, it is not due for 1, 2, 4 ... 30 s. An
  /// attempt that takes it and puts it back looks like a change, and would bring the next at once.
  void delay_retry(const std::filesystem::path& input, const FileState& state,
                   Clock::time_point now);
  bool is_due(const std::filesystem::path& input, const FileState& state,
              Clock::time_point now) const;
  /// It is as it should be, and told of anew where that changes.
  void forget(const std::filesystem::path& input);

 private:
  struct Delay {
    FileState state;
    std::chrono::milliseconds wait{0};
    Clock::time_point due{};
  };

  mutable std::mutex mutex_;
  std::unordered_set<std::string> warned_;
  std::unordered_map<std::string, Delay> delays_;
};

}  // namespace eckart::app
