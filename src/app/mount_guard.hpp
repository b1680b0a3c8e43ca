#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <optional>

namespace eckart::app {

/// Records the file system of a folder when it is first used. If a disk is unmounted, its mount
/// point or a parent remains. Files that are written there are hidden when the disk is mounted
/// again. Before the first use, a disk may be mounted there, but none may go away. Thread-safe.
class MountGuard {
 public:
  explicit MountGuard(std::filesystem::path folder);

  /// Records the file system of the folder, if the folder exists and none is recorded yet.
  void record_device();
  bool has_device() const;
  /// Returns whether the folder, or its nearest existing parent, is on the recorded file system. If
  /// none is recorded, returns whether the one of the construction is still that of the folder or
  /// of a parent.
  bool is_mounted() const;
  /// Throws EnvironmentError if not is_mounted().
  void check() const;
  /// As check(), but also throws if the folder itself does not exist any more.
  void check_exists() const;

 private:
  const std::filesystem::path folder_;
  const dev_t first_device_;  // of the folder or its nearest existing parent, at the construction
  mutable std::mutex mutex_;
  std::optional<dev_t> mounted_device_;
};

}  // namespace eckart::app
