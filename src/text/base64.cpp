#include "text/base64.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace eckart::text {

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kGroup = 3, kDigits = 4;
  std::string text;
  text.reserve((bytes.size() + kGroup - 1) / kGroup * kDigits);
  for (std::size_t at = 0; at < bytes.size(); at += kGroup) {
    const std::size_t count = std::min(kGroup, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kGroup; ++i)
      bits = bits << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    for (std::size_t digit = 0; digit < kDigits; ++digit)
      text += digit <= count ? kAlphabet[bits >> (6 * (kGroup - digit)) & 63] : '=';
  }
  return text;
}

}  // namespace eckart::text
