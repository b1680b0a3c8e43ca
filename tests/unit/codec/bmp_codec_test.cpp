#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "tests/unit/codec/bmp_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/open_image.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::BmpMaker;
using test::Bytes;
using test::failure_of;
using test::samples;
using testing::ElementsAre;
using testing::HasSubstr;

const Codec& bmp() { return codec_for(ImageFormat::bmp); }

Picture open_bmp(const Bytes& file) { return test::open_image(ImageFormat::bmp, file); }

TEST(Bmp, reads_rows_from_the_bottom_to_the_top) {
  const Bytes file = BmpMaker(1, 2, 24).pixels("abc\0def\0"sv).file();
  EXPECT_THAT(samples(open_bmp(file).pixels), ElementsAre('f', 'e', 'd', 'c', 'b', 'a'));
  const Bytes down = BmpMaker(1, -2, 24).pixels("abc\0def\0"sv).file();
  EXPECT_THAT(samples(open_bmp(down).pixels), ElementsAre('c', 'b', 'a', 'f', 'e', 'd'));
}

TEST(Bmp, reads_alpha_from_the_bottom_to_the_top) {
  const auto alpha = [](int rows) {
    return samples(open_bmp(BmpMaker(1, rows, 32)
                                .masks({0xFF, 0xFF00, 0xFF0000, 0xFF000000})
                                .pixels("abc\1def\2"sv)
                                .file())
                       .alpha);
  };
  EXPECT_THAT(alpha(2), ElementsAre(2, 1));
  EXPECT_THAT(alpha(-2), ElementsAre(1, 2));
}

TEST(Bmp, reads_palettes) {
  const auto palette = "\3\2\1\0\6\5\4\0"sv;  // blue, green, red, unused
  EXPECT_THAT(
      samples(open_bmp(BmpMaker(2, 1, 1).palette(palette).pixels("\x40\0\0\0"sv).file()).pixels),
      ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(
      samples(open_bmp(BmpMaker(2, 1, 4).palette(palette).pixels("\x10\0\0\0"sv).file()).pixels),
      ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(
      samples(open_bmp(BmpMaker(1, 1, 8).palette(palette).pixels("\1\0\0\0"sv).file()).pixels),
      ElementsAre(4, 5, 6));
}

TEST(Bmp, is_gray_if_its_palette_is) {
  const Bytes file =
      BmpMaker(2, 1, 8).palette("\0\0\0\0\x64\x64\x64\0"sv).pixels("\1\0\0\0"sv).file();
  EXPECT_THAT(samples(open_bmp(file).pixels), ElementsAre(100, 0));
}

TEST(Bmp, reads_16_and_32_bits_with_masks) {
  EXPECT_THAT(samples(open_bmp(BmpMaker(1, 1, 16).pixels("\xFF\x03\0\0"sv).file()).pixels),
              ElementsAre(0, 255, 255));
  EXPECT_THAT(
      samples(
          open_bmp(
              BmpMaker(1, 1, 16).masks({0xF800, 0x07E0, 0x001F}).pixels("\x10\x84\0\0"sv).file())
              .pixels),
      ElementsAre(132, 130, 132));
  const Picture opaque = open_bmp(BmpMaker(1, 1, 32).pixels("\3\2\1\0"sv).file());
  EXPECT_THAT(samples(opaque.pixels), ElementsAre(1, 2, 3));
  EXPECT_TRUE(opaque.alpha.empty()) << "the fourth byte is unused";
  const Picture alpha = open_bmp(
      BmpMaker(1, 1, 32).masks({0xFF, 0xFF00, 0xFF0000, 0xFF000000}).pixels("\1\2\3\4"sv).file());
  EXPECT_THAT(samples(alpha.pixels), ElementsAre(1, 2, 3));
  EXPECT_THAT(samples(alpha.alpha), ElementsAre(4));
}

TEST(Bmp, names_what_is_not_supported) {
  const auto detail = [](const Bytes& file) {
    const test::CaughtError error = failure_of([&] { bmp().read_header(file); });
    EXPECT_EQ(error.reason, FailureReason::unsupported);
    return error.detail;
  };
  EXPECT_THAT(detail(BmpMaker(1, 1, 8).compression(1).pixels("\1\0\0\1"sv).file()),
              HasSubstr("run-length"));
  EXPECT_THAT(detail(BmpMaker(1, 1, 24).compression(4).pixels("\1\0\0\1"sv).file()),
              HasSubstr("compression 4"));
  EXPECT_THAT(detail(BmpMaker(1, 1, 2).pixels("\1\0\0\1"sv).file()), HasSubstr("2 bits"));
  EXPECT_THAT(
      detail(BmpMaker(1, 1, 32).masks({0x3FF, 0xFFC00, 0x3FF00000}).pixels("\1\2\3\4"sv).file()),
      HasSubstr("10 bits"));
}

TEST(Bmp, refuses_wrong_headers) {
  const auto is_corrupt = [](const Bytes& file) {
    EXPECT_EQ(failure_of([&] { open_bmp(file); }).reason, FailureReason::corrupt);
  };
  is_corrupt(BmpMaker(0, 1, 24).pixels("1234"sv).file());
  is_corrupt(BmpMaker(1, 0, 24).pixels("1234"sv).file());
  is_corrupt(BmpMaker(-1, 1, 24).pixels("1234"sv).file());
  is_corrupt(BmpMaker(1, INT_MIN, 24).pixels("1234"sv).file());
  is_corrupt(BmpMaker(1, 1, 32).masks({0xFF, 0xFF00, 0}).pixels("1234"sv).file());
  is_corrupt(BmpMaker(1, 1, 32).masks({0xF0F, 0xF000, 0xF0000}).pixels("1234"sv).file());
  is_corrupt(BmpMaker(1, 1, 8).palette("\1\2\3\0"sv).pixels("\1\0\0\0"sv).file());  // no color 1
}

TEST(Bmp, refuses_every_truncation) {
  for (const Bytes& whole :
       {BmpMaker(3, 2, 24).pixels(std::string(24, 'x')).file(),
        BmpMaker(3, 2, 8).palette("\1\2\3\0"sv).pixels(std::string(8, '\0')).file()}) {
    EXPECT_NO_THROW(open_bmp(whole));
    constexpr std::size_t kMaxPadding = 3;
    for (std::size_t size = 18; size + kMaxPadding < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      EXPECT_EQ(failure_of([&] { open_bmp(part); }).reason, FailureReason::corrupt) << size;
    }
  }
}

TEST(Bmp, checks_the_decode_time) {
  const Bytes file = BmpMaker(1, 1, 24).pixels("1234"sv).file();
  EXPECT_EQ(failure_of([&] { bmp().decode(file, {.decode_s = 0}); }).reason,
            FailureReason::too_large);
}

TEST(Bmp, has_a_resolution) {
  Bytes file = BmpMaker(1, 1, 24).pixels("bgr."sv).file();
  EXPECT_EQ(codec_for(ImageFormat::bmp).decode(file, {}).metadata.density, std::nullopt);
  file[38] = std::byte(0x13);  // pixels per meter, 4 bytes each
  file[39] = std::byte(0x0B);
  file[42] = std::byte(0x10);
  EXPECT_EQ(codec_for(ImageFormat::bmp).decode(file, {}).metadata.density,
            (PixelDensity{2835, 16}));
}

/// A file of OS/2 1.x, with a header of 12 bytes and colors of 3.
Bytes core_bmp(int cols, int rows, int bits, std::string_view palette, std::string_view pixels) {
  const auto number = [](int value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += char(value >> (8 * i));
    return text;
  };
  const int begin = 26 + int(palette.size());
  return test::to_bytes("BM" + number(begin + int(pixels.size()), 4) + number(0, 4) +
                        number(begin, 4) + number(12, 4) + number(cols, 2) + number(rows, 2) +
                        number(1, 2) + number(bits, 2) + std::string(palette) +
                        std::string(pixels));
}

TEST(Bmp, reads_the_oldest_headers) {
  EXPECT_THAT(samples(open_bmp(core_bmp(1, 2, 24, "", "abc\0def\0"sv)).pixels),
              ElementsAre('f', 'e', 'd', 'c', 'b', 'a'));
  EXPECT_THAT(samples(open_bmp(core_bmp(2, 1, 1, "\3\2\1\6\5\4"sv, "\x40\0\0\0"sv)).pixels),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(open_bmp(core_bmp(1, 1, 24, "", "abc\0"sv)).metadata.density, std::nullopt);
}

TEST(Bmp, has_all_colors_of_its_depth_if_it_does_not_say_how_many) {
  Bytes file = BmpMaker(2, 1, 1).palette("\3\2\1\0\6\5\4\0"sv).pixels("\x40\0\0\0"sv).file();
  file[46] = std::byte(0);
  EXPECT_THAT(samples(open_bmp(file).pixels), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Bmp, reads_masks_with_alpha_behind_a_short_header) {
  Bytes file = BmpMaker(1, 1, 32)
                   .masks({0xFF, 0xFF00, 0xFF0000, 0xFF000000})
                   .compression(6)
                   .pixels("\1\2\3\4"sv)
                   .file();
  file[14] = std::byte(40);
  EXPECT_THAT(samples(open_bmp(file).pixels), ElementsAre(1, 2, 3));
  EXPECT_THAT(samples(open_bmp(file).alpha), ElementsAre(4));
  file[30] = std::byte(3);  // without alpha
  EXPECT_TRUE(open_bmp(file).alpha.empty());
  file[14] = std::byte(52);
  EXPECT_TRUE(open_bmp(file).alpha.empty());
}

TEST(Bmp, scales_samples_of_few_bits) {
  // 5 bits each; all that are possible.
  std::vector<int> expected, found;
  for (int value = 0; value < 32; ++value) {
    const std::string pixel{char(value), '\0', '\0', '\0'};
    found.push_back(samples(open_bmp(BmpMaker(1, 1, 16).pixels(pixel).file()).pixels)[2]);
    expected.push_back(int(std::lround(value * 255 / 31.0)));
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace eckart::codec
