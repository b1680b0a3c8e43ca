#pragma once

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>

#include "core/error.hpp"

namespace eckart::pipeline {

/// What all threads share that wait for disk space. Thread-safe.
class SpaceMonitor {
 public:
  /// If not `is_enabled`, a full disk is an error at once. A wait ends when `stop` is requested.
  SpaceMonitor(bool is_enabled, std::chrono::milliseconds poll_interval, std::stop_token stop);

  /// Returns whether free space may help, and the settings ask to wait for it.
  bool should_wait(const EnvironmentError& error) const;
  /// Waits as long as between two attempts. Returns false if a stop is requested.
  bool pause() const;
  /// The error of the first thread that waits; empty if none waits.
  std::string reason() const;

 private:
  friend class SpaceWait;
  /// A thread begins to wait. Returns whether it is the first.
  bool add(const std::string& reason);
  /// A thread waits no longer. Returns whether it was the last.
  bool remove();

  const bool is_enabled_;
  const std::chrono::milliseconds poll_interval_;
  const std::stop_token stop_;
  mutable std::mutex mutex_;
  int waiting_ = 0;  // threads
  std::string reason_;
};

/// The wait of one thread, from its first failed attempt until it succeeds. The log names the first
/// and the last of the threads that wait.
class SpaceWait {
 public:
  explicit SpaceWait(SpaceMonitor& monitor) : monitor_(monitor) {}
  ~SpaceWait();
  SpaceWait(const SpaceWait&) = delete;
  SpaceWait& operator=(const SpaceWait&) = delete;

  /// Call it after each failed attempt: pauses until the next attempt. Throws `error` if
  /// should_wait() is false, or when a stop is requested.
  void pause(const EnvironmentError& error);
  /// Call it when the attempt has succeeded.
  void end();

 private:
  SpaceMonitor& monitor_;
  bool has_started_ = false;
};

}  // namespace eckart::pipeline
