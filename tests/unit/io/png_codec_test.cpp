#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/codec.hpp"
#include "tests/unit/io/failure_of.hpp"
#include "tests/unit/io/png_maker.hpp"
#include "tests/unit/io/test_images.hpp"

namespace eckart::io {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::noise_image;
using test::PngMaker;
using testing::HasSubstr;

const Codec& png() { return codec_for(ImageFormat::png); }

/// What becomes of a file: its pixels, or an ItemError. The same from the header and from the
/// pixels.
Image open(const Bytes& file) {
  const Codec& codec = detect_codec(file);
  admit(codec, file, {});
  return codec.decode(file, {}).pixels;
}

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
  const Image image = open(PngMaker(1, 1, 8, 2).pixels("\0\x0a\x14\x1e"sv).end());
  EXPECT_EQ(test::sample(image, 0, 0, 0), 10);
  EXPECT_EQ(test::sample(image, 0, 0, 1), 20);
  EXPECT_EQ(test::sample(image, 0, 0, 2), 30);
}

TEST(Png, keeps_the_lower_byte_of_16_bits) {
  const Image image = open(PngMaker(1, 1, 16, 0).pixels("\0\x12\x34"sv).end());
  EXPECT_EQ(image.shape(), (ImageShape{1, 1, 1, Depth::u16}));
  EXPECT_EQ(test::sample(image, 0, 0, 0), 0x1234);
}

TEST(Png, converts_a_palette_to_rgb) {
  const Image image = open(
      PngMaker(2, 1, 1, 3).chunk("PLTE", "\x01\x02\x03\x0a\x0b\x0c"sv).pixels("\0\x40"sv).end());
  ASSERT_EQ(image.shape(), (ImageShape{1, 2, 3, Depth::u8}));
  EXPECT_EQ(test::sample(image, 0, 0, 0), 1);
  EXPECT_EQ(test::sample(image, 0, 1, 0), 10);
  EXPECT_EQ(test::sample(image, 0, 1, 2), 12);
}

TEST(Png, scales_narrow_gray_to_eight_bits) {
  const Image one = open(PngMaker(2, 1, 1, 0).pixels("\0\x40"sv).end());
  ASSERT_EQ(one.shape(), (ImageShape{1, 2, 1, Depth::u8}));
  EXPECT_EQ(test::sample(one, 0, 0, 0), 0);
  EXPECT_EQ(test::sample(one, 0, 1, 0), 255);
  const Image two = open(PngMaker(2, 1, 2, 0).pixels("\0\x60"sv).end());
  EXPECT_EQ(test::sample(two, 0, 0, 0), 85);
  EXPECT_EQ(test::sample(two, 0, 1, 0), 170);
  const Image four = open(PngMaker(1, 1, 4, 0).pixels("\0\x70"sv).end());
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
  for (const Bytes& file : files) EXPECT_EQ(test::sample(open(file), 0, 0, 0) % 0x101, 1);
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
  for (const Bytes& file : files) EXPECT_EQ(test::sample(open(file), 0, 0, 0), 1);
}

TEST(Png, counts_alpha_as_decode_memory) {
  const PngMaker maker = PngMaker(1000, 1000, 8, 6).chunk("IDAT", "");
  const Bytes file = PngMaker(maker).end();
  const Header header = png().read_header(file);
  EXPECT_EQ(header.min_decode_bytes, 8000000u) << "RGB, alpha, and RGBA before they are separated";
  EXPECT_EQ(header.max_decode_bytes, 8000000u);
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
      EXPECT_EQ(test::sample(open(file), 0, 0, 0), 1) << size;
    }
  }
}

/// One stored block, in pieces of chunks; `check` is what stands at its end.
Bytes stored(std::string_view check, std::size_t piece) {
  const std::string stream = "\x78\1\1\2\0\xFD\xFF\0\7"s + std::string(check);
  PngMaker maker(1, 1, 8, 0);
  for (std::size_t at = 0; at < stream.size(); at += piece)
    maker.chunk("IDAT", std::string_view(stream).substr(at, piece));
  return maker.end();
}

TEST(Png, requires_the_checksum_of_compressed_pixels) {
  const std::string_view right = "\0\x9\0\x8"sv;  // Adler-32 of 0 and 7
  for (std::size_t piece = 1; piece < 14; ++piece) {
    EXPECT_NO_THROW(open(stored(right, piece)));
    EXPECT_NO_THROW(open(stored("\0\x9\0\x8 and more"sv, piece)));
    for (std::size_t size = 0; size < right.size(); ++size) {
      const test::CaughtError failure =
          failure_of([&] { open(stored(right.substr(0, size), piece)); });
      EXPECT_EQ(failure.reason, FailureReason::corrupt) << size << " bytes, in pieces of " << piece;
      EXPECT_THAT(failure.detail, HasSubstr("incomplete"));
    }
    EXPECT_EQ(failure_of([&] { open(stored("\0\x9\0\x7"sv, piece)); }).reason,
              FailureReason::corrupt);
  }
}

TEST(Png, rejects_a_file_truncated_anywhere) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Bytes whole = png().encode(noise_image({24, 40, 3, depth}), {});
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes file(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      const FailureReason expected = size == 0  ? FailureReason::empty_file
                                     : size < 8 ? FailureReason::not_an_image
                                                : FailureReason::corrupt;
      ASSERT_EQ(failure_of([&] { open(file); }).reason, expected) << size << " bytes";
    }
  }
}

TEST(Png, rejects_a_truncated_file_padded_with_zeros) {
  const Bytes whole = png().encode(noise_image({24, 40, 3, Depth::u8}), {});
  for (std::size_t size = 8; size < whole.size() - 2; size += 7) {
    Bytes file = whole;
    std::fill(file.begin() + std::ptrdiff_t(size), file.end(), std::byte(0));
    ASSERT_EQ(failure_of([&] { open(file); }).reason, FailureReason::corrupt) << size << " bytes";
  }
}

TEST(Png, detects_every_damaged_byte) {
  const Image image = noise_image({16, 16, 3, Depth::u8});
  const Bytes whole = png().encode(image, {});
  for (std::size_t i = 0; i < whole.size() - 12; ++i) {  // all but IEND, which holds nothing
    Bytes file = whole;
    file[i] ^= std::byte(0x21);
    const test::CaughtError failure =
        failure_of([&] { EXPECT_TRUE(test::same(open(file), image)) << "byte " << i; });
    EXPECT_NE(failure.reason, FailureReason::none) << "byte " << i;
  }
}

TEST(Png, ignores_bytes_after_the_end) {
  const Image image = noise_image({9, 9, 1, Depth::u8});
  Bytes file = png().encode(image, {});
  file.insert(file.end(), 100, std::byte(7));
  EXPECT_TRUE(test::same(open(file), image));
}

TEST(Png, rejects_too_few_rows) {
  EXPECT_EQ(failure_of([] { open(PngMaker(1, 2, 8, 0).pixels("\0\1"sv).end()); }).reason,
            FailureReason::corrupt);
}

TEST(Png, rejects_impossible_headers) {
  const std::vector<Bytes> files{PngMaker(0, 1, 8, 0).pixels("\0\1"sv).end(),
                                 PngMaker(1, 0, 8, 0).pixels("\0\1"sv).end(),
                                 PngMaker(1u << 31, 1, 8, 0).pixels("\0"sv).end(),
                                 PngMaker(1, 1, 3, 0).pixels("\0\1"sv).end(),
                                 PngMaker(1, 1, 8, 1).pixels("\0\1"sv).end(),
                                 PngMaker(1, 1, 16, 3).pixels("\0\1"sv).end(),
                                 PngMaker(1, 1, 4, 2).pixels("\0\1"sv).end(),
                                 PngMaker(1, 1, 8, 0).end()};
  for (const Bytes& file : files) {
    EXPECT_EQ(failure_of([&] { png().read_header(file); }).reason, FailureReason::corrupt);
  }
}

TEST(Png, counts_the_image_twice_if_rotated) {
  const Bytes upright = png().encode(test::gradient_image({1000, 1000, 3, Depth::u8}), {});
  const Bytes exif = PngMaker(1, 1, 8, 0)
                         .chunk("eXIf", "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv)
                         .bytes_so_far();
  constexpr std::ptrdiff_t kHeader = 33;  // signature and IHDR
  Bytes turned = upright;
  turned.insert(turned.begin() + kHeader, exif.begin() + kHeader, exif.end());
  EXPECT_NO_THROW(png().decode(upright, {.decode_mb = 4}));
  EXPECT_EQ(failure_of([&] { png().decode(turned, {.decode_mb = 4}); }).reason,
            FailureReason::too_large);
  EXPECT_NO_THROW(png().decode(turned, {.decode_mb = 7}));
}

TEST(Png, stops_at_the_deadline) {
  for (const int interlace : {0, 1}) {
    const Bytes file = PngMaker(1, 1, 8, 0, interlace).pixels("\0\x12"sv).end();
    EXPECT_NO_THROW(png().decode(file, {}));
    const test::CaughtError failure = failure_of([&] { png().decode(file, {.decode_s = 0}); });
    EXPECT_EQ(failure.reason, FailureReason::too_large);
    EXPECT_THAT(failure.detail, HasSubstr("limits.decode_s = 0"));
  }
}

/// Deflate blocks that announce their own codes and then hold nothing: no row is ever finished.
std::string empty_blocks(int count) {
  std::string bits;
  const auto add = [&](unsigned value, int size) {  // the lowest first
    for (int i = 0; i < size; ++i) bits += char(value >> i & 1);
  };
  for (int block = 0; block < 4; ++block) {  // end together at a byte
    add(0b100, 3);                           // not the last; codes of its own
    add(0, 5), add(0, 5), add(14, 4);        // 257 for bytes, 1 for distances, 18 for lengths
    for (int i = 0; i < 18; ++i) add(i == 2 || i == 17, 3);  // lengths: `1` is 0, `zeros` is 1
    add(1, 1), add(127, 7), add(1, 1), add(107, 7);          // 138 + 118 zeros
    add(0, 1), add(0, 1);                                    // the end's code, and a distance's
    add(0, 1);                                               // the end
  }
  std::string bytes(bits.size() / 8, '\0');
  for (std::size_t i = 0; i < bits.size(); ++i) bytes[i / 8] |= char(bits[i] << i % 8);
  std::string blocks;
  for (int i = 0; i < count; i += 4) blocks += bytes;
  return blocks;
}

TEST(Png, stops_at_the_deadline_within_a_row) {
  const Bytes file = PngMaker(1, 1, 8, 0).chunk("IDAT", "\x78\x01" + empty_blocks(5000000)).end();
  EXPECT_EQ(failure_of([&] { png().decode(file, {.decode_s = 1}); }).reason,
            FailureReason::too_large);
}

TEST(Png, rejects_a_decompression_bomb_by_its_header) {
  const Bytes file = PngMaker(30000, 30000, 8, 2).pixels("\0"sv).end();
  const test::CaughtError failure = failure_of([&] { open(file); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("limits.pixels"));
}

/// What a file says beside its pixels may be wrong: writers get it wrong often enough.
TEST(Png, ignores_invalid_ancillary_chunks) {
  const auto file_with = [](std::string_view type, std::string_view data) {
    return PngMaker(1, 1, 8, 0).chunk(type, data).pixels("\0\x12"sv).end();
  };
  std::vector<Bytes> files{file_with("gAMA", "\1"sv),         file_with("gAMA", "\0\0\0\0"sv),
                           file_with("iCCP", "no profile"sv), file_with("tEXt", "no end"sv),
                           file_with("pHYs", "short"sv),      file_with("eXIf", "nothing"sv),
                           file_with("sRGB", "\x9"sv),        file_with("xyZw", "whatever"sv)};
  files.push_back(file_with("tEXt", "Title\0text"sv));
  const auto text =
      std::search(files.back().begin(), files.back().end(), std::begin("text"),
                  std::end("text") - 1, [](std::byte a, char b) { return char(a) == b; });
  *text = std::byte('T');  // its checksum is wrong now
  for (const Bytes& file : files) {
    const Image image = open(file);
    EXPECT_EQ(test::sample(image, 0, 0, 0), 0x12);
  }
}

TEST(Png, rejects_an_unknown_critical_chunk) {
  EXPECT_EQ(failure_of([] {
              open(PngMaker(1, 1, 8, 0).chunk("XyZw", "what").pixels("\0\x12"sv).end());
            }).reason,
            FailureReason::corrupt);
}

TEST(Png, rejects_two_palettes) {
  EXPECT_EQ(
      failure_of([] {
        open(PngMaker(1, 1, 8, 3).chunk("PLTE", "abc").chunk("PLTE", "ABC").pixels("\0\0"sv).end());
      }).reason,
      FailureReason::corrupt);
}

TEST(Png, rejects_chunks_between_idat_chunks) {
  Bytes file = PngMaker(1, 1, 8, 0).pixels("\0\x12"sv).chunk("tEXt", "a\0b"sv).end();
  EXPECT_NO_THROW(open(file));
  file = PngMaker(1, 1, 8, 0).pixels("\0\x12"sv).chunk("tEXt", "a\0b"sv).chunk("IDAT", "").end();
  EXPECT_EQ(failure_of([&] { open(file); }).reason, FailureReason::corrupt);
}

/// Each claims 65,535 entries, and has none.
TEST(Png, reads_many_orientation_chunks_quickly) {
  PngMaker maker(1, 1, 8, 0);
  for (int i = 0; i < 100000; ++i) maker.chunk("eXIf", "MM\0*\0\0\0\10\xff\xff"sv);
  EXPECT_NO_THROW(png().decode(maker.pixels("\0\x12"sv).end(), {.decode_s = 1}));
}

TEST(Png, ignores_many_text_chunks) {
  PngMaker maker(1, 1, 8, 0);
  for (int i = 0; i < 3000; ++i) maker.chunk("tEXt", "Comment\0text"sv);
  EXPECT_EQ(test::sample(open(maker.pixels("\0\x12"sv).end()), 0, 0, 0), 0x12);
}

TEST(Png, applies_exif_orientation) {
  const std::string_view turn_right("MM\0\x2A\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv);
  const Image image = open(PngMaker(2, 1, 8, 0).chunk("eXIf", turn_right).pixels("\0\1\2"sv).end());
  ASSERT_EQ(image.shape(), (ImageShape{2, 1, 1, Depth::u8}));
  EXPECT_EQ(test::sample(image, 0, 0, 0), 1);
  EXPECT_EQ(test::sample(image, 1, 0, 0), 2);
}

TEST(Png, ignores_exif_with_a_wrong_checksum) {
  const std::string_view turn_right("MM\0\x2A\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv);
  Bytes file = PngMaker(2, 1, 8, 0).chunk("eXIf", turn_right).pixels("\0\1\2"sv).end();
  const std::size_t crc =
      8 + (12 + 13) + 8 + turn_right.size();  // signature, IHDR, length and type
  file[crc] ^= std::byte(1);
  EXPECT_EQ(open(file).shape(), (ImageShape{1, 2, 1, Depth::u8}));
}

}  // namespace
}  // namespace eckart::io
