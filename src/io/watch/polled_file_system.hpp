#pragma once

#include <string_view>

#include "io/directory.hpp"

namespace eckart::io {

/// Returns the name of a file system type whose inotify does not report all changes, such as
/// changes by another machine or in a lower layer. `type` is f_type of statfs(2). Empty for all
/// other types.
std::string_view polled_file_system(long type);

/// The same for the file system of a directory. Empty also if the type cannot be read.
std::string_view polled_file_system_of(const Directory& directory);

}  // namespace eckart::io
