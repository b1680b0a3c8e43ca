#pragma once

#include <string>

namespace eckart::io {

/// Returns 16 random hexadecimal digits that identify this process, also across machines.
const std::string& process_token();

}  // namespace eckart::io
