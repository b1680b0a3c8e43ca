#pragma once

#include <string>

namespace eckart::io {

/// 16 digits that no other process has, on no machine.
const std::string& process_token();

}  // namespace eckart::io
