// Chunks of PNG beside the pixels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
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
using test::open_png;
using test::png;
using test::PngMaker;

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
    const Image image = open_png(file);
    EXPECT_EQ(test::sample(image, 0, 0, 0), 0x12);
  }
}

TEST(Png, rejects_an_unknown_critical_chunk) {
  EXPECT_EQ(failure_of([] {
              open_png(PngMaker(1, 1, 8, 0).chunk("XyZw", "what").pixels("\0\x12"sv).end());
            }).reason,
            FailureReason::corrupt);
}

TEST(Png, rejects_two_headers) {
  const std::string header("\0\0\0\1\0\0\0\1\x8\0\0\0\0", 13);
  const auto failure = failure_of(
      [&] { open_png(PngMaker(1, 1, 8, 0).chunk("IHDR", header).pixels("\0\x12"sv).end()); });
  EXPECT_EQ(failure.reason, FailureReason::corrupt);
  EXPECT_THAT(failure.detail, testing::HasSubstr("two IHDR chunks"));
}

TEST(Png, rejects_two_palettes) {
  EXPECT_EQ(
      failure_of([] {
        open_png(
            PngMaker(1, 1, 8, 3).chunk("PLTE", "abc").chunk("PLTE", "ABC").pixels("\0\0"sv).end());
      }).reason,
      FailureReason::corrupt);
}

TEST(Png, rejects_chunks_between_idat_chunks) {
  Bytes file = PngMaker(1, 1, 8, 0).pixels("\0\x12"sv).chunk("tEXt", "a\0b"sv).end();
  EXPECT_NO_THROW(open_png(file));
  file = PngMaker(1, 1, 8, 0).pixels("\0\x12"sv).chunk("tEXt", "a\0b"sv).chunk("IDAT", "").end();
  EXPECT_EQ(failure_of([&] { open_png(file); }).reason, FailureReason::corrupt);
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
  EXPECT_EQ(test::sample(open_png(maker.pixels("\0\x12"sv).end()), 0, 0, 0), 0x12);
}

TEST(Png, applies_exif_orientation) {
  const std::string_view turn_right("MM\0\x2A\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv);
  const Image image =
      open_png(PngMaker(2, 1, 8, 0).chunk("eXIf", turn_right).pixels("\0\1\2"sv).end());
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
  EXPECT_EQ(open_png(file).shape(), (ImageShape{1, 2, 1, Depth::u8}));
}

}  // namespace
}  // namespace eckart::codec
