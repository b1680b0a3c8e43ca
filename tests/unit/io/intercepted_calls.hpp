#pragma once

#include <cstddef>
#include <functional>
#include <optional>

namespace eckart::test {

/// Replacements of library calls call these functions. A test can act between two steps of the
/// code, or can make a call fail.
inline std::function<void()> before_rename;  ///< called once, before the next renameat2
inline std::function<int(const char* name)>
    on_rename;  ///< returns the errno of a renameat2 to this name; 0: call it
inline std::function<int(int descriptor)> on_fsync;  ///< returns the errno of an fsync; 0: call it
inline std::function<int(const char* name)>
    on_unlink;                                  ///< returns the errno of an unlinkat; 0: call it
inline std::optional<std::size_t> max_written;  ///< the most bytes that a writev writes
inline int readdir_error = 0;       ///< the errno of readdir at the end of each folder; 0: none
inline int interrupted_writes = 0;  ///< the next calls of writev that fail with EINTR

}  // namespace eckart::test
