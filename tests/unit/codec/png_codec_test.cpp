// Pixels, palettes and alpha of PNG.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/open_png.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::noise_image;
using test::open_png;
using test::png;
using test::PngMaker;

class PngRoundTripTest : public testing::TestWithParam<ImageShape> {};

TEST_P(PngRoundTripTest, is_exact) {
  const Image image = noise_image(GetParam());
  const Bytes file = png().encode(image, {});
  EXPECT_EQ(&detect_codec(file), &png());
  EXPECT_EQ(png().read_header(file).shape, image.shape());
  EXPECT_TRUE(test::same(png().decode(file, {}).pixels, image));
}

TEST_P(PngRoundTripTest, encodes_deterministically) {
  const Image image = noise_image(GetParam());
  EXPECT_EQ(png().encode(image, {}), png().encode(image, {}));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PngRoundTripTest,
    testing::Values(ImageShape{1, 1, 1, Depth::u8}, ImageShape{1, 1, 3, Depth::u16},
                    ImageShape{37, 61, 1, Depth::u8}, ImageShape{61, 37, 3, Depth::u8},
                    ImageShape{37, 61, 1, Depth::u16}, ImageShape{61, 37, 3, Depth::u16},
                    ImageShape{1, 5000, 3, Depth::u8}, ImageShape{5000, 1, 1, Depth::u16}));

TEST(Png, orders_channels_red_green_blue) {
  const Image image = open_png(PngMaker(1, 1, 8, 2).pixels("\0\x0a\x14\x1e"sv).end());
  EXPECT_EQ(test::sample(image, 0, 0, 0), 10);
  EXPECT_EQ(test::sample(image, 0, 0, 1), 20);
  EXPECT_EQ(test::sample(image, 0, 0, 2), 30);
}

TEST(Png, keeps_the_lower_byte_of_16_bits) {
  const Image image = open_png(PngMaker(1, 1, 16, 0).pixels("\0\x12\x34"sv).end());
  EXPECT_EQ(image.shape(), (ImageShape{1, 1, 1, Depth::u16}));
  EXPECT_EQ(test::sample(image, 0, 0, 0), 0x1234);
}

TEST(Png, converts_a_palette_to_rgb) {
  const Image image = open_png(
      PngMaker(2, 1, 1, 3).chunk("PLTE", "\x01\x02\x03\x0a\x0b\x0c"sv).pixels("\0\x40"sv).end());
  ASSERT_EQ(image.shape(), (ImageShape{1, 2, 3, Depth::u8}));
  EXPECT_EQ(test::sample(image, 0, 0, 0), 1);
  EXPECT_EQ(test::sample(image, 0, 1, 0), 10);
  EXPECT_EQ(test::sample(image, 0, 1, 2), 12);
}

TEST(Png, scales_narrow_gray_to_eight_bits) {
  const Image one = open_png(PngMaker(2, 1, 1, 0).pixels("\0\x40"sv).end());
  ASSERT_EQ(one.shape(), (ImageShape{1, 2, 1, Depth::u8}));
  EXPECT_EQ(test::sample(one, 0, 0, 0), 0);
  EXPECT_EQ(test::sample(one, 0, 1, 0), 255);
  const Image two = open_png(PngMaker(2, 1, 2, 0).pixels("\0\x60"sv).end());
  EXPECT_EQ(test::sample(two, 0, 0, 0), 85);
  EXPECT_EQ(test::sample(two, 0, 1, 0), 170);
  const Image four = open_png(PngMaker(1, 1, 4, 0).pixels("\0\x70"sv).end());
  EXPECT_EQ(test::sample(four, 0, 0, 0), 0x77);
}

std::vector<Bytes> with_alpha(char alpha) {
  const std::string one(1, alpha), two(2, alpha);
  std::vector<Bytes> files;
  for (const int interlace : {0, 1}) {
    const auto maker = [&](int bits, int color) { return PngMaker(1, 1, bits, color, interlace); };
    files.push_back(maker(8, 4).pixels("\0\1"s + one).end());
    files.push_back(maker(16, 4).pixels("\0\1\2"s + two).end());
    files.push_back(maker(8, 6).pixels("\0\1\2\3"s + one).end());
    files.push_back(maker(16, 6).pixels("\0\1\2\3\4\5\6"s + two).end());
    files.push_back(maker(8, 3).chunk("PLTE", "\1\2\3").chunk("tRNS", one).pixels("\0\0"sv).end());
  }
  return files;
}

TEST(Png, separates_alpha_from_the_pixels) {
  std::vector<std::vector<int>> seen;
  for (const Bytes& file : with_alpha('\x7F')) {
    const Picture picture = png().decode(file, {});
    const Image& image = picture.pixels;
    EXPECT_TRUE(png().read_header(file).may_have_alpha);
    ASSERT_FALSE(picture.alpha.empty());
    EXPECT_EQ(test::sample(picture.alpha, 0, 0, 0),
              image.shape().depth == Depth::u8 ? 0x7F : 0x7F7F);
    EXPECT_EQ(image.shape(), png().read_header(file).shape);
    std::vector<int> samples;
    for (int c = 0; c < image.shape().channels; ++c)
      samples.push_back(test::sample(image, 0, 0, c));
    seen.push_back(samples);
  }
  const std::vector<std::vector<int>> expected{
      {1}, {0x102}, {1, 2, 3}, {0x102, 0x304, 0x506}, {1, 2, 3}};
  ASSERT_EQ(seen.size(), 10u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], expected[i % 5]) << i;
}

TEST(Png, makes_a_transparent_color_alpha) {
  const auto alpha = [](const Bytes& file) {
    const Image image = png().decode(file, {}).alpha;
    EXPECT_EQ(image.shape().depth, png().read_header(file).shape.depth);
    return std::pair{test::sample(image, 0, 0, 0), test::sample(image, 0, 1, 0)};
  };
  const auto maker = [](int bits, int color, std::string_view transparent) {
    return PngMaker(2, 1, bits, color).chunk("tRNS", transparent);
  };
  EXPECT_EQ(alpha(maker(8, 0, "\0\1"sv).pixels("\0\1\2"sv).end()), (std::pair{0, 255}));
  EXPECT_EQ(alpha(maker(4, 0, "\xFF\xF3"sv).pixels("\0\x34"sv).end()), (std::pair{0, 255}));
  EXPECT_EQ(alpha(maker(16, 0, "\1\2"sv).pixels("\0\1\3\1\2"sv).end()), (std::pair{65535, 0}));
  EXPECT_EQ(alpha(maker(8, 2, "\0\1\0\2\0\3"sv).pixels("\0\1\2\3\1\2\4"sv).end()),
            (std::pair{0, 255}));
}

TEST(Png, turns_alpha_with_the_pixels) {
  constexpr auto kTurned = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv;  // EXIF
  const Picture picture =
      png().decode(PngMaker(2, 1, 8, 4).chunk("eXIf", kTurned).pixels("\0\1\2\3\4"sv).end(), {});
  EXPECT_EQ(picture.pixels.shape(), (ImageShape{2, 1, 1, Depth::u8}));
  EXPECT_EQ(picture.alpha.shape(), (ImageShape{2, 1, 1, Depth::u8}));
  EXPECT_EQ(test::sample(picture.alpha, 1, 0, 0), 4);
}

TEST(Png, accepts_an_unused_transparent_color) {
  const std::vector<Bytes> files{
      PngMaker(1, 1, 8, 0).chunk("tRNS", "\0\2"sv).pixels("\0\1"sv).end(),
      PngMaker(1, 1, 8, 2).chunk("tRNS", "\0\1\0\2\0\4"sv).pixels("\0\1\2\3"sv).end(),
      PngMaker(1, 1, 16, 0).chunk("tRNS", "\1\3"sv).pixels("\0\1\2"sv).end(),
      PngMaker(1, 1, 8, 3)
          .chunk("PLTE", "\1\2\3\4\5\6")
          .chunk("tRNS", "\xFF\0"sv)
          .pixels("\0\0"sv)
          .end()};
  for (const Bytes& file : files) EXPECT_EQ(test::sample(open_png(file), 0, 0, 0) % 0x101, 1);
}

/// As libpng has it.
TEST(Png, ignores_an_invalid_transparency_chunk) {
  const auto maker = [] { return PngMaker(1, 1, 8, 0); };
  std::vector<Bytes> files{
      maker().chunk("tRNS", "\1"sv).pixels("\0\1"sv).end(),
      maker().chunk("tRNS", "\0\1\0"sv).pixels("\0\1"sv).end(),
      PngMaker(1, 1, 8, 4).chunk("tRNS", "\0\1"sv).pixels("\0\1\xFF"sv).end(),
      PngMaker(1, 1, 8, 3).chunk("tRNS", "\0").chunk("PLTE", "\1..").pixels("\0\0"sv).end(),
      PngMaker(1, 1, 8, 3).chunk("PLTE", "\1..").chunk("tRNS", "\xFF\0"sv).pixels("\0\0"sv).end()};
  for (const Bytes& file : files) EXPECT_EQ(test::sample(open_png(file), 0, 0, 0), 1);
}

TEST(Png, counts_alpha_as_decode_memory) {
  const PngMaker maker = PngMaker(1000, 1000, 8, 6).chunk("IDAT", "");
  const Bytes file = PngMaker(maker).end();
  const Header header = png().read_header(file);
  EXPECT_EQ(header.min_decode_bytes, 8000000u) << "RGB, alpha, and RGBA before they are separated";
  EXPECT_EQ(header.max_decode_bytes, 8001000u) << "RGBA as rows with their filter bytes";
  EXPECT_EQ(failure_of([&] { admit(png(), file, {.decode_mb = 7}); }).reason,
            FailureReason::too_large);
}

TEST(Png, ignores_an_invalid_suggested_palette) {
  for (const int color : {0, 2}) {
    for (const std::size_t size : {std::size_t(257 * 3), std::size_t(1), std::size_t(0)}) {
      const Bytes file = PngMaker(1, 1, 8, color)
                             .chunk("PLTE", std::string(size, 'x'))
                             .pixels(color == 0 ? "\0\1"sv : "\0\1\2\3"sv)
                             .end();
      EXPECT_EQ(test::sample(open_png(file), 0, 0, 0), 1) << size;
    }
  }
}

}  // namespace
}  // namespace eckart::codec
