#pragma once

#include <cerrno>
#include <string>

#include "core/error.hpp"

namespace eckart::files {

/// Whether an errno means that the disk or the quota of the user has no bytes or inodes left.
inline bool is_out_of_space(int error) { return error == ENOSPC || error == EDQUOT; }

/// Throws EnvironmentError if `error`, of creating a file or folder, means that there is no space.
inline void throw_if_out_of_space(int error, const std::string& message) {
  if (is_out_of_space(error))
    throw EnvironmentError(message, EnvironmentError::Remedy::free_disk_space);
}

}  // namespace eckart::files
