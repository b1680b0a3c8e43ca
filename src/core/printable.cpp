#include "core/printable.hpp"

namespace eckart {

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      line.append("\\x").append({kDigits[byte / 16], kDigits[byte % 16]});
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace eckart
