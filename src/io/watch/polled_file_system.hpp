#pragma once

#include <string_view>

#include "io/directory.hpp"

namespace eckart::io {

/// Kinds of file system whose inotify does not tell of all that changes: of what another machine,
/// or what lies beneath, does. The number is statfs's f_type; empty for all others.
std::string_view polled_file_system(long type);

/// That a directory is on; empty as well where that cannot be found out.
std::string_view polled_file_system_of(const Directory& directory);

}  // namespace eckart::io
