#include "codec/png/filter.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace eckart::codec::png {
namespace {

/// PNG (third edition), 9.4, word for word.
int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  if (pa <= pb && pa <= pc) return a;
  return pb <= pc ? b : c;
}

/// The second half of the row has the first half as left neighbors.
TEST(Filter, predicts_as_the_specification_for_all_neighbors) {
  constexpr std::size_t kHalf = 1 << 16;
  std::vector<std::uint8_t> bytes(2 * kHalf), above(2 * kHalf), residuals(2 * kHalf);
  for (std::size_t i = 0; i < kHalf; ++i) {
    bytes[i] = std::uint8_t(i >> 8);
    above[kHalf + i] = std::uint8_t(i);
  }
  std::size_t wrong = 0;
  for (int above_left = 0; above_left < 256; ++above_left) {
    std::fill_n(above.begin(), kHalf, std::uint8_t(above_left));
    filter_row({bytes.data(), above.data(), 2 * kHalf, kHalf}, Filter::paeth, residuals.data());
    for (std::size_t i = 0; i < kHalf; ++i) {
      const int predicted = paeth(int(i >> 8), int(i & 255), above_left);
      wrong += residuals[kHalf + i] == std::uint8_t(-predicted) ? 0 : 1;
    }
  }
  EXPECT_EQ(wrong, 0);
}

/// Rows of all sizes: parts of a vector, several vectors, and a pixel.
TEST(Filter, writes_each_byte_of_a_row_and_no_other) {
  constexpr std::uint8_t kUntouched = 0xA5;
  for (const std::size_t pixel_bytes : {1, 2, 3, 4, 6, 8}) {
    for (std::size_t size = pixel_bytes; size < 80; size += pixel_bytes) {
      std::vector<std::uint8_t> bytes(size), above(size), to(size + 1, kUntouched);
      for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = std::uint8_t(i * 37 + size);
        above[i] = std::uint8_t(i * 91 + 7);
      }
      filter_row({bytes.data(), above.data(), size, pixel_bytes}, Filter::paeth, to.data());
      for (std::size_t i = 0; i < size; ++i) {
        const bool has_left = i >= pixel_bytes;
        const int predicted = paeth(has_left ? bytes[i - pixel_bytes] : 0, above[i],
                                    has_left ? above[i - pixel_bytes] : 0);
        ASSERT_EQ(to[i], std::uint8_t(bytes[i] - predicted)) << i << " of " << size;
      }
      EXPECT_EQ(to[size], kUntouched);
    }
  }
}

}  // namespace
}  // namespace eckart::codec::png
