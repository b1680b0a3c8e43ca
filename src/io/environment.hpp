#pragma once

#include <cerrno>

namespace eckart::io {

inline bool is_no_space(int error) { return error == ENOSPC || error == EDQUOT; }

/// Whether the process or the machine has no more of something that opening takes.
inline bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Whether writing failed for a reason that has nothing to do with the file written: the next one
/// would fail as well.
inline bool is_of_environment(int error) {
  return is_no_space(error) || is_exhaustion(error) || error == EIO || error == EROFS ||
         error == ENODEV || error == ENXIO || error == ESTALE;
}

}  // namespace eckart::io
