#pragma once

#include <cstddef>
#include <string_view>

namespace eckart::text {

/// The beginning of a UTF-8 text, at most `count` code points. None is cut. Wide and combining
/// characters count as one.
inline std::string_view first_characters(std::string_view text, std::size_t count) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_start = (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
    if (is_start && ++characters > count) return text.substr(0, at);
  }
  return text;
}

}  // namespace eckart::text
