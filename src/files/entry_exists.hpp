#pragma once

#include <filesystem>
#include <system_error>

namespace eckart::files {

/// Whether anything has that name, a link that leads nowhere too; true where that cannot be known.
inline bool entry_exists(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::symlink_status(path, none).type() !=
         std::filesystem::file_type::not_found;
}

}  // namespace eckart::files
