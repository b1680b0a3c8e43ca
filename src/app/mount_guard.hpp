#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

namespace eckart::app {

/// The file system that a folder was on when it was first used. A disk that is unmounted leaves the
/// folder that it was mounted on, or one around it: what is written there is hidden when the disk
/// is mounted again. Thread-safe.
class MountGuard {
 public:
  explicit MountGuard(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Where the folder is now, if it is there and that is not known yet.
  void record_device();
  bool has_device() const;
  /// Throws EnvironmentError if the folder, or the nearest folder above it that is there, is on
  /// another file system than the one that is known.
  void check() const;
  /// Likewise if the folder itself is not there any more.
  void check_exists() const;

 private:
  const std::filesystem::path folder_;
  mutable std::mutex mutex_;
  std::optional<dev_t> mounted_device_;
};

}  // namespace eckart::app
