#pragma once

namespace eckart::text {

/// Converts ASCII letters only, regardless of the locale.
constexpr char to_lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

}  // namespace eckart::text
