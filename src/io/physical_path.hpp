#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace eckart::io {

/// The place of a directory in its file system, by whatever links and mounts it was reached: a bind
/// mount may show a part of a file system at another place. Network file systems may have the same
/// place for different folders; is_physically_within() excludes that.
struct PhysicalPath {
  std::string device;          ///< "major:minor"
  std::filesystem::path path;  ///< from the root of the file system

  /// Whether it may be `outer` or below it. False if that is unknown.
  bool is_within(const std::optional<PhysicalPath>& outer) const;
};

/// `directory` may be an O_PATH descriptor. Nothing if it cannot be determined, for example without
/// /proc.
std::optional<PhysicalPath> physical_path(int directory);

/// The same for a path, as it was up to a second ago. Nothing too if it does not exist.
/// Thread-safe.
std::optional<PhysicalPath> recent_physical_path(const std::filesystem::path& directory);

/// The same for the nearest existing directory of a path.
std::optional<PhysicalPath> nearest_physical_path(const std::filesystem::path& path);

/// Whether the open directory `inner` is `outer` or below it. False if it cannot be determined.
bool is_physically_within(int inner, int outer);

/// The same for the nearest existing directory of the path `inner`. `outer` must exist.
bool is_physically_within(const std::filesystem::path& inner, const std::filesystem::path& outer);

}  // namespace eckart::io
