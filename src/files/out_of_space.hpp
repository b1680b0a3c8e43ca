#pragma once

#include <cerrno>
#include <string>

#include "core/error.hpp"

namespace eckart {

/// Whether errno says that the disk, or this user's share of it, has no bytes or inodes left.
inline bool is_out_of_space(int error) { return error == ENOSPC || error == EDQUOT; }

/// Throws EnvironmentError where a file or folder could not be made for want of space.
inline void throw_if_out_of_space(int error, const std::string& message) {
  if (is_out_of_space(error))
    throw EnvironmentError(message, EnvironmentError::Remedy::free_disk_space);
}

}  // namespace eckart
