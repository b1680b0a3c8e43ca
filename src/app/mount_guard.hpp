#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace eckart::app {

/// Records the file system of a folder when it is first used. If a disk is unmounted, its mount
/// point or a parent remains. Files that are written there are hidden when the disk is mounted
/// again. Thread-safe.
class MountGuard {
 public:
  explicit MountGuard(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Records the file system of the folder, if the folder exists and none is recorded yet.
  void record_device();
  bool has_device() const;
  /// Returns whether the folder, or its nearest existing parent, is on the recorded file system;
  /// true if none is recorded.
  bool is_mounted() const;
  /// Throws EnvironmentError if not is_mounted().
  void check() const;
  /// As check(), but also throws if the folder itself does not exist any more.
  void check_exists() const;

 private:
  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::optional<dev_t> mounted_device_;
};

}  // namespace eckart::app
