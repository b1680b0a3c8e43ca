#pragma once

#include <functional>

namespace eckart::test {

/// The library calls these, so that others can act between two of its steps, and a call can fail.
inline std::function<void()> before_rename;             ///< called once, before the next renameat2
inline std::function<int(int descriptor)> on_fsync;     ///< the error that an fsync has; 0: none
inline std::function<int(const char* name)> on_unlink;  ///< the same, of unlinkat

}  // namespace eckart::test
