#pragma once

#include <string>
#include <string_view>

namespace eckart {

/// Text, such as a file's name, for a message on one line: control characters are escaped (a
/// newline as \n, others as \x1b), so that it cannot break the line or command a terminal.
std::string printable(std::string_view text);

}  // namespace eckart
