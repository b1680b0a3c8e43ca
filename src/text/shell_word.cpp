#include "text/shell_word.hpp"

#include <cctype>
#include <cstring>

#include "text/printable.hpp"

namespace eckart::text {
namespace {

/// Returns the text in the quotes $'...' of bash and zsh, as visible ASCII.
std::string escaped_shell_word(const std::string& text) {
  std::string word = "$'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') {
      word += {'\\', byte};
    } else if (byte >= ' ' && byte <= '~') {
      word += byte;
    } else {
      const unsigned bits = static_cast<unsigned char>(byte);
      word += {'\\', char('0' + bits / 64), char('0' + bits / 8 % 8), char('0' + bits % 8)};
    }
  }
  return word + "'";
}

}  // namespace

std::string shell_word(const std::string& text) {
  if (printable_message(text) != text) return escaped_shell_word(text);
  std::string word;
  bool is_plain = !text.empty();
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    is_plain &= code >= 0x80 || std::isalnum(code) || std::strchr("/._-+=:@%,", byte);
    word += byte == '\'' ? "'\\''" : std::string(1, byte);
  }
  return is_plain ? word : "'" + word + "'";
}

}  // namespace eckart::text
