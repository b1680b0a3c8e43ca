#include "text/percent_encoding.hpp"

namespace eckart::text {
namespace {

bool is_unreserved(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || std::string_view("/-._~").find(c) != std::string::npos;
}

}  // namespace

std::string percent_encode_path(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    encoded += is_unreserved(c) ? std::string(1, c)
                                : std::string{'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

}  // namespace eckart::text
