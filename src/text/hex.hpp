#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eckart::text {

/// Two lower-case hexadecimal digits for each byte.
inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    hex += kDigits[std::to_integer<unsigned>(byte >> 4)];
    hex += kDigits[std::to_integer<unsigned>(byte & std::byte(15))];
  }
  return hex;
}

/// The same for the bytes of a string.
inline std::string to_hex(std::string_view bytes) {
  return to_hex(std::as_bytes(std::span(bytes)));
}

/// Returns the bytes of hexadecimal digits, two for each; nothing if the text is something else.
std::optional<std::string> from_hex(std::string_view hex);

}  // namespace eckart::text
