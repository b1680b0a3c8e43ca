// The source that the GPU reverses filters with, on the CPU, against RowUnfilter.
#include "codec/png/wavefront_unfilter.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "codec/png/unfilter.hpp"
#include "core/warp.hpp"
#include "tests/unit/codec/make_encoded_png.hpp"

namespace eckart::codec::png {
namespace {

using test::Bytes;

Bytes unfilter_by_rows(const ImageShape& shape, Bytes filtered) {
  const std::size_t row_bytes = std::size_t(shape.cols) * std::size_t(shape.channels);
  filtered.resize(filtered.size() + RowUnfilter::kPaddingBytes);
  RowUnfilter unfilter(row_bytes, std::size_t(shape.channels));
  Bytes pixels;
  for (int row = 0; row < shape.rows;) {
    const int count =
        unfilter.unfilter(&filtered[std::size_t(row) * (row_bytes + 1)], shape.rows - row);
    for (int i = 0; i < count; ++i)
      pixels.insert(pixels.end(), unfilter.row(i), unfilter.row(i) + row_bytes);
    row += count;
  }
  return pixels;
}

Bytes unfilter_by_warp(const ImageShape& shape, Bytes filtered) {
  const std::size_t size = shape.bytes();
  filtered.resize(filtered.size() + 3);
  Bytes pixels(size + 64, std::byte(0xA5));
  HostWarp warp;
  unfilter(warp,
           {reinterpret_cast<std::uint8_t*>(filtered.data()), shape.rows,
            shape.cols * shape.channels + 1},
           shape.channels, reinterpret_cast<std::uint8_t*>(pixels.data()));
  EXPECT_EQ(std::count(pixels.begin() + std::ptrdiff_t(size), pixels.end(), std::byte(0xA5)), 64)
      << "writes after the last row";
  pixels.resize(size);
  return pixels;
}

/// Rows and columns around the number of lanes and of the pixels of a step.
TEST(WavefrontUnfilter, has_the_pixels_of_the_unfilter_of_rows) {
  for (const int rows : {1, 2, 31, 32, 33, 64, 65, 208}) {
    for (const int cols : {1, 2, 3, 4, 5, 7, 8, 31, 127, 128, 129, 500}) {
      for (const int channels : {1, 3}) {
        const ImageShape shape{rows, cols, channels, Depth::u8};
        for (const test::RowContents contents : test::kAllRowContents) {
          const Bytes filtered = test::make_rows(shape, contents);
          EXPECT_EQ(unfilter_by_warp(shape, filtered), unfilter_by_rows(shape, filtered))
              << rows << " x " << cols << " x " << channels;
        }
      }
    }
  }
}

}  // namespace
}  // namespace eckart::codec::png
