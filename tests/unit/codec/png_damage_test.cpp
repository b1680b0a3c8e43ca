// PNG files that are damaged or take too much.
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
using testing::HasSubstr;

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
    EXPECT_NO_THROW(open_png(stored(right, piece)));
    EXPECT_NO_THROW(open_png(stored("\0\x9\0\x8 and more"sv, piece)));
    for (std::size_t size = 0; size < right.size(); ++size) {
      const test::CaughtError failure =
          failure_of([&] { open_png(stored(right.substr(0, size), piece)); });
      EXPECT_EQ(failure.reason, FailureReason::corrupt) << size << " bytes, in pieces of " << piece;
      EXPECT_THAT(failure.detail, HasSubstr("incomplete"));
    }
    EXPECT_EQ(failure_of([&] { open_png(stored("\0\x9\0\x7"sv, piece)); }).reason,
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
      ASSERT_EQ(failure_of([&] { open_png(file); }).reason, expected) << size << " bytes";
    }
  }
}

TEST(Png, rejects_a_truncated_file_padded_with_zeros) {
  const Bytes whole = png().encode(noise_image({24, 40, 3, Depth::u8}), {});
  for (std::size_t size = 8; size < whole.size() - 2; size += 7) {
    Bytes file = whole;
    std::fill(file.begin() + std::ptrdiff_t(size), file.end(), std::byte(0));
    ASSERT_EQ(failure_of([&] { open_png(file); }).reason, FailureReason::corrupt)
        << size << " bytes";
  }
}

TEST(Png, detects_every_damaged_byte) {
  const Image image = noise_image({16, 16, 3, Depth::u8});
  const Bytes whole = png().encode(image, {});
  for (std::size_t i = 0; i < whole.size() - 12; ++i) {  // all but IEND, which holds nothing
    Bytes file = whole;
    file[i] ^= std::byte(0x21);
    const test::CaughtError failure =
        failure_of([&] { EXPECT_TRUE(test::same(open_png(file), image)) << "byte " << i; });
    EXPECT_NE(failure.reason, FailureReason::none) << "byte " << i;
  }
}

TEST(Png, ignores_bytes_after_the_end) {
  const Image image = noise_image({9, 9, 1, Depth::u8});
  Bytes file = png().encode(image, {});
  file.insert(file.end(), 100, std::byte(7));
  EXPECT_TRUE(test::same(open_png(file), image));
}

TEST(Png, rejects_too_few_rows) {
  EXPECT_EQ(failure_of([] { open_png(PngMaker(1, 2, 8, 0).pixels("\0\1"sv).end()); }).reason,
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
  const test::CaughtError failure = failure_of([&] { open_png(file); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("limits.pixels"));
}

}  // namespace
}  // namespace eckart::codec
