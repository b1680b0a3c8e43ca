#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/file_state.hpp"

namespace eckart::app {

/// Tells of each input that stays where it should not, once: scans find it again and again.
/// Thread-safe.
class InputsThatStay {
 public:
  using Clock = std::chrono::steady_clock;

  void tell(const std::filesystem::path& input, const std::string& why);
  /// It was tried, and could not be taken away: as it is, it is not due for 1, 2, 4 ... 30 s. An
  /// attempt that takes it and puts it back looks like a change, and would bring the next at once.
  void back_off(const std::filesystem::path& input, const FileState& state, Clock::time_point now);
  bool is_due(const std::filesystem::path& input, const FileState& state,
              Clock::time_point now) const;
  /// It is as it should be, and told of anew where that changes.
  void forget(const std::filesystem::path& input);

 private:
  struct BackOff {
    FileState state;
    std::chrono::milliseconds wait{0};
    Clock::time_point due{};
  };

  mutable std::mutex mutex_;
  std::unordered_set<std::string> told_;
  std::unordered_map<std::string, BackOff> back_offs_;
};

}  // namespace eckart::app
