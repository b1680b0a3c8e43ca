#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "files/file_state.hpp"

namespace eckart::app {

/// Records the inputs that were in process when a service ended because of a stall, in a file of
/// its output folder. This prevents one input from stalling the service repeatedly while other
/// inputs wait. After the first stall the input is retried at once, because the disk may be the
/// cause. From the second stall on it is held for 10 minutes, then twice as long after each stall,
/// up to a day. Thread-safe.
class StallRecord {
 public:
  using Time = std::chrono::system_clock::time_point;
  /// The file is read at the first use.
  explicit StallRecord(std::filesystem::path file) : file_(std::move(file)) {}

  /// Records a stall of the input `relative`. Throws EnvironmentError if the file cannot be
  /// written.
  void add(const std::filesystem::path& relative, const files::FileState& state, Time now);
  struct Hold {
    Time until;
    bool is_first;  ///< this hold was not returned before
  };
  /// Returns until when the input must not be tried; nullopt if it may be tried or has changed.
  std::optional<Hold> find_hold(const std::filesystem::path& relative,
                                const files::FileState& state, Time now);
  /// Removes the input, because it is done.
  void forget(const std::filesystem::path& relative);

 private:
  struct Entry {
    int count = 0;
    std::int64_t last_s = 0;  // since 1970
    files::FileState state;
    bool is_reported = false;
  };
  void read();
  void write() const;

  const std::filesystem::path file_;
  std::mutex mutex_;
  bool is_read_ = false;
  std::map<std::string, Entry> entries_;
};

}  // namespace eckart::app
