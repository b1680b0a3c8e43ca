#pragma once

#include <string>
#include <system_error>

namespace eckart::io {

/// What the system says of an errno.
inline std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace eckart::io
