#pragma once

#include <string>

#include "capacity/table.hpp"

namespace eckart::capacity {

/// Breaks `text` at spaces. The first line begins with `first`, the others with spaces instead. A
/// number stays with its % sign.
std::string wrap(const std::string& first, const std::string& text);

/// Formats a table with its title, after an empty line. Returns an empty text if it has no rows.
std::string text_table(const Table& table);

}  // namespace eckart::capacity
