#pragma once

namespace eckart {

/// Of ASCII's letters alone, whatever the locale.
constexpr char to_lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

}  // namespace eckart
