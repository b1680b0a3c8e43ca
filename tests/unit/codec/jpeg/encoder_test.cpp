// Data: those of libjpeg, for every image that this encoder supports.
#include "codec/jpeg/encoder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <span>

#include "analysis/comparison.hpp"
#include "codec/codec.hpp"
#include "codec/jpeg/header.hpp"
#include "codec/jpeg/standard_tables.hpp"
#include "synth/synth.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart::codec::jpeg {
namespace {

using test::Bytes;
using test::gradient_image;
using test::noise_image;

struct Sampling {
  int channels, across, down;
};

JpegHeader header_of(const Bytes& file) {
  JpegHeader header;
  EXPECT_EQ(parse_header(file, header), Irregularity::none);
  return header;
}

class JpegScanTest : public testing::TestWithParam<Sampling> {
 protected:
  static ImageShape shape(int rows, int cols) {
    return {rows, cols, GetParam().channels, Depth::u8};
  }
  static Image texture(int rows, int cols) {
    return synth::synthesize({.kind = synth::SynthKind::texture,
                              .rows = rows,
                              .cols = cols,
                              .channels = GetParam().channels});
  }

  static EncodedScan encode(const Image& image, const Image& original, int quality) {
    const auto layout = encoding_layout(image.shape(), {GetParam().across, GetParam().down});
    const TableSpecs tables = standard_tables(quality, image.shape().channels);
    return encode_scan(image, original, layout.value(), build_encoding_tables(tables));
  }
  static Bytes encode_with_libjpeg(const Image& image, int quality) {
    return test::make_jpeg(
        image,
        {.chroma_cols = GetParam().across, .chroma_rows = GetParam().down, .quality = quality});
  }

  /// Whether the data are those between the header and the end of libjpeg's file.
  static bool has_data_of_libjpeg(const Image& image, int quality) {
    const Bytes file = encode_with_libjpeg(image, quality);
    const auto scan = std::span(file).subspan(header_of(file).scan_offset);
    return std::ranges::equal(encode(image, image, quality).data, scan.first(scan.size() - 2));
  }
};

TEST_P(JpegScanTest, has_the_data_of_libjpeg_at_every_size) {
  for (int rows = 1; rows <= 40; ++rows) {
    for (int cols = 1; cols <= 40; ++cols) {
      const int quality = 1 + (41 * rows + 7 * cols) % 100;
      ASSERT_TRUE(has_data_of_libjpeg(noise_image(shape(rows, cols)), quality))
          << rows << " x " << cols << ", quality " << quality;
      ASSERT_TRUE(has_data_of_libjpeg(gradient_image(shape(rows, cols)), quality))
          << rows << " x " << cols << ", quality " << quality;
    }
  }
}

TEST_P(JpegScanTest, has_the_data_of_libjpeg_at_every_quality) {
  const Image image = texture(47, 61), noise = noise_image(shape(30, 50));
  const Image black = test::black_image(shape(20, 30));
  for (int quality = 1; quality <= 100; ++quality) {
    ASSERT_TRUE(has_data_of_libjpeg(image, quality)) << quality;
    ASSERT_TRUE(has_data_of_libjpeg(noise, quality)) << quality;
    ASSERT_TRUE(has_data_of_libjpeg(black, quality)) << quality;
  }
}

/// The largest values that 8 bits can have in each coefficient.
TEST_P(JpegScanTest, has_the_data_of_libjpeg_for_the_largest_coefficients) {
  Image image(shape(64, 64));
  for (int row = 0; row < 64; ++row) {
    for (int col = 0; col < 64; ++col) {
      const int u = row / 8, v = col / 8;  // of the cosines in this block
      const double wave = std::cos((2 * (row % 8) + 1) * u * std::numbers::pi / 16) *
                          std::cos((2 * (col % 8) + 1) * v * std::numbers::pi / 16);
      for (int c = 0; c < image.shape().channels; ++c)
        test::set_sample(image, row, col, c, wave > 0 ? 255 : 0);
    }
  }
  for (const int quality : {1, 50, 100}) EXPECT_TRUE(has_data_of_libjpeg(image, quality));
}

TEST_P(JpegScanTest, has_the_data_of_libjpeg_for_photographs) {
  for (const auto& [rows, cols] : {std::pair(255, 257), {208, 176}, {512, 768}})
    for (const int quality : {50, 95})
      EXPECT_TRUE(has_data_of_libjpeg(texture(rows, cols), quality));
}

TEST_P(JpegScanTest, knows_the_error_of_the_decoded_file) {
  for (const auto& [rows, cols] :
       {std::pair(1, 1), {7, 9}, {8, 8}, {17, 33}, {64, 3}, {100, 101}}) {
    const Image image = texture(rows, cols), original = gradient_image(shape(rows, cols));
    for (const int quality : {10, 75, 95, 100}) {
      const Image decoded =
          codec_for(ImageFormat::jpeg).decode(encode_with_libjpeg(image, quality), {}).pixels;
      const auto error = encode(image, original, quality).squared_error;
      ASSERT_TRUE(error) << rows << " x " << cols;
      EXPECT_EQ(double(*error), analysis::compare(original, decoded).squared_error)
          << rows << " x " << cols << ", quality " << quality;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samplings, JpegScanTest,
                         testing::Values(Sampling{1, 1, 1}, Sampling{3, 1, 1}, Sampling{3, 2, 1},
                                         Sampling{3, 1, 2}, Sampling{3, 2, 2}));

TEST(JpegEncodingLayout, is_only_that_of_supported_images) {
  EXPECT_TRUE(encoding_layout({8, 8, 3, Depth::u8}, {2, 2}));
  EXPECT_FALSE(encoding_layout({8, 8, 3, Depth::u8}, {4, 1}));
  EXPECT_FALSE(encoding_layout({8, 8, 3, Depth::u16}, {1, 1}));
  EXPECT_EQ(encoding_layout({8, 8, 1, Depth::u8}, {2, 2})->down, 1) << "gray has no chroma";
}

TEST(StandardTables, equals_those_of_libjpeg) {
  for (const int channels : {1, 3}) {
    const Image image = noise_image({8, 8, channels, Depth::u8});
    for (int quality = 1; quality <= 100; ++quality)
      ASSERT_TRUE(standard_tables(quality, channels) ==
                  header_of(test::make_jpeg(image, {.quality = quality})).tables)
          << quality;
  }
}

/// As libjpeg-turbo does, whose reciprocals have 16 bits.
TEST(Quantization, rounds_to_the_nearest) {
  for (int step = 1; step <= 255; ++step) {
    const int divisor = 8 * step;
    const std::uint32_t reciprocal = reciprocal_of(std::uint32_t(divisor));
    for (int value = 0; value <= 16384; ++value) {
      const int expected = (value + divisor / 2) / divisor;
      ASSERT_EQ(quantize(value, std::uint16_t(step), reciprocal), expected);
      ASSERT_EQ(quantize(-value, std::uint16_t(step), reciprocal), -expected);
    }
  }
}

}  // namespace
}  // namespace eckart::codec::jpeg
