#pragma once

#include <filesystem>

namespace eckart::io {

/// Whether the open directory `inner` is `outer` or below it, by whatever links and mounts both
/// were reached: a bind mount may show a part of a file system at another place. O_PATH descriptors
/// are allowed. False if it cannot be determined, for example without /proc.
bool is_physically_within(int inner, int outer);

/// The same for the nearest existing directory of the path `inner`. `outer` must exist.
bool is_physically_within(const std::filesystem::path& inner, const std::filesystem::path& outer);

}  // namespace eckart::io
