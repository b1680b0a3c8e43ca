#pragma once

#include <cerrno>
#include <system_error>

namespace eckart::files {

/// Throws std::system_error with the errno of `what`, the system call that has just failed.
[[noreturn]] inline void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace eckart::files
