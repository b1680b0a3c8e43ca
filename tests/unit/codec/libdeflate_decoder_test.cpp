// The decoder of undamaged PNG files, against libspng.
#include "codec/libdeflate_decoder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "codec/png_contents.hpp"
#include "codec/spng_decoder.hpp"
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
using test::png;
using test::PngMaker;

struct RowKind {
  int color_type, channels, bits;

  std::size_t pixel_bytes() const { return std::size_t(channels * bits / 8); }
};
constexpr RowKind kRowKinds[] = {{0, 1, 8},  {4, 2, 8},  {2, 3, 8},  {6, 4, 8},
                                 {0, 1, 16}, {4, 2, 16}, {2, 3, 16}, {6, 4, 16}};

/// Rows of noise. Row i has filter i modulo the number of filters.
std::string noise_rows(const RowKind& kind, int rows, int cols, std::string_view filters) {
  std::uint32_t state = std::uint32_t(rows * cols);
  std::string bytes;
  for (int row = 0; row < rows; ++row) {
    bytes += filters[std::size_t(row) % filters.size()];
    for (std::size_t i = 0; i < std::size_t(cols) * kind.pixel_bytes(); ++i) {
      state = state * 1664525 + 1013904223;
      bytes += char(state >> 24);
    }
  }
  return bytes;
}

PngMaker maker_of(const RowKind& kind, int rows, int cols) {
  return {std::uint32_t(cols), std::uint32_t(rows), kind.bits, kind.color_type};
}

std::optional<Picture> decode_whole(const Bytes& file) {
  Deadline deadline(ImageLimits{}.decode_s);
  return decode_with_libdeflate(read_png_contents(file).parts, deadline);
}

bool same_or_empty(const Image& a, const Image& b) {
  return a.empty() || b.empty() ? a.empty() && b.empty() : test::same(a, b);
}

bool decodes_like_libspng(const Bytes& file) {
  const auto picture = decode_whole(file);
  Deadline deadline(ImageLimits{}.decode_s);
  const Picture expected = decode_with_spng(read_png_contents(file).parts, deadline);
  return picture && same_or_empty(picture->pixels, expected.pixels) &&
         same_or_empty(picture->alpha, expected.alpha);
}

TEST(LibdeflateDecoder, gives_the_samples_of_libspng) {
  constexpr std::string_view kMixtures[] = {"\0"sv,    "\1"sv,   "\2"sv,       "\3"sv,
                                            "\4"sv,    "\4\2"sv, "\0\3\1\4"sv, "\1\1\2\4\4\3\0"sv,
                                            "\2\2\4"sv};
  for (const RowKind& kind : kRowKinds) {
    for (const std::string_view filters : kMixtures) {
      for (const auto& [rows, cols] : std::vector<std::pair<int, int>>{
               {1, 1}, {1, 40}, {40, 1}, {2, 3}, {7, 8}, {8, 7}, {17, 16}, {37, 33}}) {
        const Bytes file =
            maker_of(kind, rows, cols).pixels(noise_rows(kind, rows, cols, filters)).end();
        ASSERT_TRUE(decodes_like_libspng(file))
            << kind.channels << " channels, " << kind.bits << " bits, " << rows << " x " << cols
            << ", filters from " << int(filters[0]);
      }
    }
  }
}

/// Small residuals, so that neighbors are near each other, and equally far from the prediction.
TEST(LibdeflateDecoder, chooses_the_same_neighbor_as_libspng) {
  for (const RowKind& kind : kRowKinds) {
    std::string rows = noise_rows(kind, 64, 60, "\4"sv);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i % (1 + 60 * kind.pixel_bytes()) != 0) rows[i] = char(int(rows[i]) % 3);
    }
    ASSERT_TRUE(decodes_like_libspng(maker_of(kind, 64, 60).pixels(rows).end()));
  }
}

TEST(LibdeflateDecoder, makes_a_transparent_color_alpha) {
  EXPECT_TRUE(
      decodes_like_libspng(PngMaker(2, 1, 8, 0).chunk("tRNS", "\0\1"sv).pixels("\0\1\2"sv).end()));
  EXPECT_TRUE(decodes_like_libspng(PngMaker(2, 1, 16, 2)
                                       .chunk("tRNS", "\0\1\0\2\0\3"sv)
                                       .pixels("\0\0\1\0\2\0\3\1\1\1\1\1\1"sv)
                                       .end()));
}

std::string stream_of(std::string_view rows) {
  const std::vector<std::byte> stream = compress_zlib(std::as_bytes(std::span(rows)), 6);
  return {reinterpret_cast<const char*>(stream.data()), stream.size()};
}

/// A PNG with the stream in chunks of at most `piece` bytes.
Bytes in_pieces(PngMaker png_maker, std::string_view stream, std::size_t piece) {
  for (std::size_t at = 0; at < stream.size(); at += piece)
    png_maker.chunk("IDAT", stream.substr(at, piece));
  return png_maker.end();
}

TEST(LibdeflateDecoder, joins_chunks) {
  const RowKind& kind = kRowKinds[2];
  const std::string stream = stream_of(noise_rows(kind, 9, 10, "\4"sv));
  for (const std::size_t piece : {20, 100, 1000})
    EXPECT_TRUE(decodes_like_libspng(in_pieces(maker_of(kind, 9, 10), stream, piece)));
}

TEST(LibdeflateDecoder, leaves_everything_else_to_libspng) {
  const std::string rows = "\0\1\0\2"s, stream = stream_of(rows);
  const auto with_stream = [](std::string_view changed) {
    return PngMaker(1, 2, 8, 0).chunk("IDAT", changed).end();
  };
  ASSERT_TRUE(decode_whole(with_stream(stream)));
  EXPECT_TRUE(decode_whole(with_stream(stream + "more"))) << "bytes after the stream are ignored";
  EXPECT_FALSE(decode_whole(with_stream(stream.substr(0, stream.size() - 1)))) << "no checksum";
  EXPECT_FALSE(decode_whole(with_stream(stream_of("\0\1\0"sv)))) << "too few bytes";
  EXPECT_FALSE(decode_whole(with_stream(stream_of("\0\1\0\2\0"sv)))) << "too many";
  EXPECT_FALSE(decode_whole(with_stream(stream_of("\0\1\5\2"sv)))) << "no filter has this code";
  std::string wrong_checksum = stream;
  wrong_checksum.back() ^= 1;
  EXPECT_FALSE(decode_whole(with_stream(wrong_checksum)));
  Bytes wrong_crc = with_stream(stream);
  wrong_crc[wrong_crc.size() - 13] ^= std::byte(1);  // before IEND
  EXPECT_FALSE(decode_whole(wrong_crc));
  EXPECT_FALSE(decode_whole(PngMaker(1, 2, 8, 0, 1).chunk("IDAT", stream).end())) << "interlaced";
  EXPECT_FALSE(decode_whole(PngMaker(1, 2, 4, 0).chunk("IDAT", stream).end())) << "4 bits";
  EXPECT_FALSE(
      decode_whole(PngMaker(1, 2, 8, 3).chunk("PLTE", "abcdef").chunk("IDAT", stream).end()));
}

TEST(LibdeflateDecoder, leaves_a_stream_larger_than_its_rows_to_libspng) {
  const RowKind& kind = kRowKinds[0];
  const std::string rows = noise_rows(kind, 100, 100, "\0"sv), stream = stream_of(rows);
  EXPECT_TRUE(decode_whole(in_pieces(maker_of(kind, 100, 100), stream, 1000)));
  const Bytes file = in_pieces(maker_of(kind, 100, 100), stream + std::string(2000, 'x'), 1000);
  EXPECT_FALSE(decode_whole(file));
  EXPECT_NO_THROW(png().decode(file, {}));
  const Bytes padded = in_pieces(maker_of(kind, 100, 100), stream + std::string(500000, 'x'), 1000);
  EXPECT_LT(png().read_header(padded).max_decode_bytes, 30000u) << "and its size is not reserved";
}

std::int64_t stopped_clock() { return 0; }

/// libdeflate cannot be interrupted.
TEST(LibdeflateDecoder, does_not_begin_what_could_take_too_long) {
  const RowKind& kind = kRowKinds[0];
  const int rows = 2048, cols = 2048;
  const std::string stream = stream_of(noise_rows(kind, rows, cols, "\0"sv));
  const Bytes file = maker_of(kind, rows, cols).chunk("IDAT", stream).end();
  const PngContents contents = read_png_contents(file);
  Deadline short_time(1, &stopped_clock), long_time(10, &stopped_clock);
  EXPECT_FALSE(decode_with_libdeflate(contents.parts, short_time));
  EXPECT_TRUE(decode_with_libdeflate(contents.parts, long_time));
}

/// Noise in several chunks: libdeflate needs the file, the stream and the rows, libspng the file
/// and the pixels.
TEST(LibdeflateDecoder, leaves_what_needs_too_much_memory_to_libspng) {
  const RowKind& kind = kRowKinds[0];
  const int rows = 1024, cols = 1024;
  const std::string stream = stream_of(noise_rows(kind, rows, cols, "\0"sv));
  const Bytes file = in_pieces(maker_of(kind, rows, cols), stream, 100000);
  EXPECT_GE(png().read_header(file).max_decode_bytes, 2 * std::size_t(rows * cols));
  const Image image = png().decode(file, {}).pixels;
  EXPECT_TRUE(test::same(png().decode(file, {.decode_mb = 3}).pixels, image));
  EXPECT_EQ(failure_of([&] { png().decode(file, {.decode_mb = 2}); }).reason,
            FailureReason::too_large);
}

}  // namespace
}  // namespace eckart::codec
