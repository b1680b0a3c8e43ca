#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

namespace eckart::test {

/// Fields of a header of a tar archive.
struct TarHeader {
  std::string name;
  std::size_t size = 0;
  char type = '0';  ///< '0' file, '1' hard link, '2' symbolic link, '3' device, '5' folder, 'x' pax
  std::string link_target{};
  std::string sparse_map{};  ///< of the type 'S', from byte 386 on
};

/// Returns a header of 512 bytes, by POSIX.1-1988 (ustar), or of GNU tar for the type 'S'.
inline std::string tar_header(const TarHeader& header) {
  std::string bytes(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    std::copy(text.begin(), text.end(), bytes.begin() + std::ptrdiff_t(at));
  };
  const auto octal = [](std::size_t value, int digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*zo", digits, value);
    return std::string(text);
  };
  put(0, header.name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, octal(header.size, 11));
  put(136, octal(0, 11));
  put(156, std::string(1, header.type));
  put(157, header.link_target);
  put(257, header.type == 'S' ? std::string("ustar  ")
                              : std::string("ustar\0"
                                            "00",
                                            8));
  put(386, header.sparse_map);
  put(148, "        ");
  std::size_t sum = 0;
  for (const char byte : bytes) sum += std::size_t((unsigned char)(byte));
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  return bytes;
}

/// Returns the header and the content of a file, up to a multiple of 512 bytes.
inline std::string tar_file(const std::string& name, const std::string& content) {
  std::string bytes = tar_header({.name = name, .size = content.size()}) + content;
  bytes.resize((bytes.size() + 511) / 512 * 512);
  return bytes;
}

/// Returns the end of an archive.
inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace eckart::test
