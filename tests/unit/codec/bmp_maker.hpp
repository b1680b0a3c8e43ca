#pragma once

#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// Writes BMPs of every kind.
class BmpMaker {
 public:
  /// A negative number of rows: the first row is at the top.
  BmpMaker(int cols, int rows, int bits) : cols_(cols), rows_(rows), bits_(bits) {}

  /// 4 bytes for each color: blue, green, red and an unused one.
  BmpMaker& palette(std::string_view colors) {
    palette_ = colors;
    return *this;
  }
  /// Of red, green, blue and alpha, if there is any.
  BmpMaker& masks(const std::vector<std::uint32_t>& masks) {
    masks_ = masks;
    return compression(3);
  }
  BmpMaker& compression(std::uint32_t compression) {
    compression_ = compression;
    return *this;
  }
  BmpMaker& pixels(std::string_view rows) {
    pixels_ = rows;
    return *this;
  }

  Bytes file() const {
    constexpr std::uint32_t kFileHeader = 14;
    const auto info = std::uint32_t(40 + 4 * masks_.size());
    const auto begin = std::uint32_t(kFileHeader + info + palette_.size());
    std::string file = "BM" + number(std::uint32_t(begin + pixels_.size())) + number(0) +
                       number(begin) + number(info) + number(std::uint32_t(cols_)) +
                       number(std::uint32_t(rows_)) + number(1U | std::uint32_t(bits_) << 16) +
                       number(compression_) + number(0) + number(0) + number(0) +
                       number(std::uint32_t(palette_.size() / 4)) + number(0);
    for (const std::uint32_t mask : masks_) file += number(mask);
    file += palette_ + pixels_;
    return to_bytes(file);
  }

 private:
  static std::string number(std::uint32_t value) {
    return {char(value), char(value >> 8), char(value >> 16), char(value >> 24)};
  }

  int cols_, rows_, bits_;
  std::uint32_t compression_ = 0;
  std::vector<std::uint32_t> masks_;
  std::string palette_, pixels_;
};

}  // namespace eckart::test
