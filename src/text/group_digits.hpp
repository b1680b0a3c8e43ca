#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace eckart::text {

/// Formats 12345678 as 12,345,678.
inline std::string group_digits(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::ptrdiff_t at = std::ptrdiff_t(text.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3) {
    text.insert(std::size_t(at), ",");
  }
  return text;
}

}  // namespace eckart::text
