#pragma once

#include <string>

namespace eckart::text {

/// Formats a name as one word of a shell command, on one line, quoted if necessary.
std::string shell_word(const std::string& text);

}  // namespace eckart::text
