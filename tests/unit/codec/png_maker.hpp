#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// Writes PNGs of every kind, also of those that our encoder does not write. Uncompressed.
class PngMaker {
 public:
  PngMaker(std::uint32_t cols, std::uint32_t rows, int bits, int color_type, int interlace = 0) {
    std::string ihdr = big_endian(cols) + big_endian(rows);
    ihdr += {char(bits), char(color_type), 0, 0, char(interlace)};
    chunk("IHDR", ihdr);
  }

  PngMaker& chunk(std::string_view type, std::string_view data) {
    const std::string checked = std::string(type) + std::string(data);
    file_ += big_endian(std::uint32_t(data.size())) + checked + big_endian(crc32(checked));
    return *this;
  }

  /// `rows` holds each row with its filter byte (0: none) before it; fewer than 65536 bytes.
  PngMaker& pixels(std::string_view rows) {
    const auto size = std::uint16_t(rows.size());
    const auto complement = std::uint16_t(~size);
    std::string zlib{0x78, 0x01, 0x01};  // one stored block
    zlib += {char(size & 255), char(size >> 8), char(complement & 255), char(complement >> 8)};
    return chunk("IDAT", zlib + std::string(rows) + big_endian(adler32(rows)));
  }

  Bytes end() {
    chunk("IEND", "");
    return bytes_so_far();
  }

  Bytes bytes_so_far() const {
    const auto* begin = reinterpret_cast<const std::byte*>(file_.data());
    return {begin, begin + file_.size()};
  }

 private:
  static std::string big_endian(std::uint32_t value) {
    return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
  }

  static std::uint32_t crc32(std::string_view data) {
    std::uint32_t crc = ~0U;
    for (const char c : data) {
      crc ^= std::uint8_t(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
  }

  static std::uint32_t adler32(std::string_view data) {
    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : data) {
      a = (a + std::uint8_t(c)) % 65521;
      b = (b + a) % 65521;
    }
    return b << 16 | a;
  }

  std::string file_ = "\x89PNG\r\n\x1a\n";
};

}  // namespace eckart::test
