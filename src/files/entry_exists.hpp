#pragma once

#include <filesystem>
#include <system_error>

namespace eckart::files {

/// Whether a directory entry with this path exists. A dangling symbolic link counts as existing.
/// True if the entry cannot be examined, for example without permission.
inline bool entry_exists(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::symlink_status(path, none).type() !=
         std::filesystem::file_type::not_found;
}

}  // namespace eckart::files
