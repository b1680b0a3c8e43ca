#include "text/hex.hpp"

#include <charconv>

namespace eckart::text {

std::optional<std::string> from_hex(std::string_view hex) {
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::string_view digits = hex.substr(i, 2);
    unsigned char byte = 0;
    const auto [at, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (error != std::errc() || at != digits.data() + 2) return std::nullopt;
    bytes += char(byte);
  }
  return bytes;
}

}  // namespace eckart::text
