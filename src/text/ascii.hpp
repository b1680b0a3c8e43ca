#pragma once

#include <string>

namespace eckart::text {

/// Converts ASCII letters only, regardless of the locale.
constexpr char to_lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

inline std::string to_lower_ascii(std::string text) {
  for (char& c : text) c = to_lower_ascii(c);
  return text;
}

}  // namespace eckart::text
