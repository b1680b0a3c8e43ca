#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "files/file_state.hpp"

namespace eckart::app {

/// Which inputs were worked on when a service ended because a stage had stalled: kept in a file of
/// its output folder, so that an input that stalls it again and again leaves time for the others.
/// The first stall may have been the disk's: the input is tried again at once. From the second on
/// it waits for 10 minutes, and twice as long after each further one, up to a day. Thread-safe.
class StallRecord {
 public:
  using Time = std::chrono::system_clock::time_point;
  /// Nothing is read before it is asked.
  explicit StallRecord(std::filesystem::path file) : file_(std::move(file)) {}

  /// The input `relative` has stalled; throws what keeps that from being written.
  void add(const std::filesystem::path& relative, const FileState& state, Time now);
  struct Hold {
    Time until;
    bool is_first;  ///< nobody has been told before
  };
  /// Until when the input is not to be tried; nothing where it may be, or has changed.
  std::optional<Hold> find_hold(const std::filesystem::path& relative, const FileState& state,
                                Time now);
  /// It is done.
  void forget(const std::filesystem::path& relative);

 private:
  struct Entry {
    int count = 0;
    std::int64_t last_s = 0;  // since 1970
    FileState state;
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
