// The source that the GPU inflates PNGs with, on the CPU, against libdeflate.
#include "codec/png/inflate.hpp"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <memory>
#include <optional>
#include <random>

#include "codec/png/decoder.hpp"
#include "core/warp.hpp"
#include "tests/unit/codec/make_encoded_png.hpp"

namespace eckart::codec::png {
namespace {

using test::Bytes;
using test::compress;
using test::EncodedPng;
using test::make_encoded_png;
using test::make_rows;
using test::RowContents;

constexpr ImageShape kShape{40, 60, 1, Depth::u8};
constexpr std::byte kUnwritten{0xA5};

/// The rows, with some bytes after them that must not be written; or why there are none.
std::variant<Bytes, Irregularity> inflate_rows(const EncodedImage& image) {
  constexpr std::size_t kGap = 64;
  const std::size_t size = std::size_t(image.shape.rows) * image.row_bytes();
  Bytes rows(size + kGap, kUnwritten);
  std::vector<std::uint32_t> words(padded_stream_bytes(image) / 4);
  copy_stream(image, reinterpret_cast<std::byte*>(words.data()));
  const auto memory = std::make_unique<InflateMemory>();
  HostWarp warp;
  const Irregularity found = inflate(warp, {words.data(), std::int32_t(image.stream_bytes)},
                                     {reinterpret_cast<std::uint8_t*>(rows.data()),
                                      image.shape.rows, std::int32_t(image.row_bytes())},
                                     *memory);
  EXPECT_EQ(std::count(rows.end() - kGap, rows.end(), kUnwritten), std::ptrdiff_t(kGap));
  if (found != Irregularity::none) return found;
  rows.resize(size);
  return rows;
}

std::optional<Bytes> inflate_with_libdeflate(const EncodedPng& png) {
  const EncodedImage image = png;
  Bytes rows(std::size_t(image.shape.rows) * image.row_bytes());
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  const libdeflate_result result = libdeflate_zlib_decompress(
      decompressor.get(), png.stream.data(), png.stream.size(), rows.data(), rows.size(), nullptr);
  if (result != LIBDEFLATE_SUCCESS) return std::nullopt;
  return rows;
}

Irregularity irregularity_of(const EncodedImage& image) {
  const auto found = inflate_rows(image);
  return std::holds_alternative<Bytes>(found) ? Irregularity::none : std::get<Irregularity>(found);
}
Irregularity irregularity_of(Bytes stream) {
  return irregularity_of(EncodedPng{kShape, std::move(stream)});
}

TEST(Inflate, has_the_rows_of_libdeflate_for_every_kind) {
  for (const EncodedPng& image : test::encoded_pngs_of_every_kind()) {
    const auto found = inflate_rows(image);
    ASSERT_TRUE(std::holds_alternative<Bytes>(found)) << to_string(std::get<Irregularity>(found));
    EXPECT_EQ(std::get<Bytes>(found), inflate_with_libdeflate(image));
  }
}

/// Of many blocks, with windows that end within a block and within a segment.
TEST(Inflate, has_the_rows_of_large_images) {
  for (const RowContents contents : test::kAllRowContents) {
    const EncodedPng image =
        make_encoded_png({700, 500, 3, Depth::u8}, contents, {.level = 9, .memory_level = 9});
    const auto found = inflate_rows(image);
    ASSERT_TRUE(std::holds_alternative<Bytes>(found)) << to_string(std::get<Irregularity>(found));
    EXPECT_EQ(std::get<Bytes>(found), inflate_with_libdeflate(image));
  }
}

/// It need not accept what libdeflate accepts, but may not accept anything else.
TEST(Inflate, accepts_no_damage_that_libdeflate_refuses) {
  std::mt19937 random(1);
  int refused = 0;
  const std::vector<EncodedPng> images = test::encoded_pngs_of_every_kind();
  for (int round = 0; round < 1000; ++round) {
    EncodedPng image = images[random() % images.size()];
    for (unsigned change = 0; change <= random() % 3; ++change)
      image.stream[random() % image.stream.size()] ^= std::byte(1 << random() % 8);
    if (random() % 8 == 0) {  // with a checksum that fits, if the rows are complete
      const std::size_t size = image.stream.size();
      image.stream.resize(size - random() % std::min<std::size_t>(size, 20));
    }
    const auto found = inflate_rows(image);
    refused += std::holds_alternative<Irregularity>(found);
    if (std::holds_alternative<Bytes>(found)) {
      EXPECT_EQ(std::get<Bytes>(found), inflate_with_libdeflate(image));
    }
  }
  EXPECT_GT(refused, 750);
}

TEST(Inflate, reports_a_header_of_another_kind) {
  const Bytes stream = compress(make_rows(kShape, RowContents::gradient), {});
  Bytes changed = stream;
  changed[0] = std::byte(0x79);  // not deflate
  EXPECT_EQ(irregularity_of(changed), Irregularity::header);
  changed = stream;
  changed[1] ^= std::byte(1);  // its check bits are wrong
  EXPECT_EQ(irregularity_of(changed), Irregularity::header);
  EXPECT_EQ(irregularity_of({stream.begin(), stream.begin() + 5}), Irregularity::header);
}

TEST(Inflate, reports_data_that_end_early_or_go_on) {
  for (const int level : {0, 6}) {
    const Bytes stream = compress(make_rows(kShape, RowContents::gradient), {.level = level});
    EXPECT_EQ(irregularity_of(stream), Irregularity::none);
    for (const std::ptrdiff_t missing : {1, 4, 5, 100, int(stream.size()) - 6})
      EXPECT_EQ(irregularity_of({stream.begin(), stream.end() - missing}),
                Irregularity::data_ended);
    Bytes longer = stream;
    longer.push_back({});
    EXPECT_EQ(irregularity_of(longer), Irregularity::data_left);
  }
}

TEST(Inflate, reports_rows_of_another_size) {
  const Bytes rows = make_rows(kShape, RowContents::gradient);
  for (const int level : {0, 6}) {
    const Bytes shorter = compress(std::span(rows).first(rows.size() - 1), {.level = level});
    EXPECT_EQ(irregularity_of(shorter), Irregularity::too_short);
    Bytes more = rows;
    more.push_back({});
    EXPECT_EQ(irregularity_of(compress(more, {.level = level})), Irregularity::too_long);
  }
}

TEST(Inflate, reports_a_wrong_checksum) {
  Bytes stream = compress(make_rows(kShape, RowContents::noise), {});
  stream.back() ^= std::byte(1);
  EXPECT_EQ(irregularity_of(stream), Irregularity::checksum);
}

TEST(Inflate, reports_a_filter_that_does_not_exist) {
  Bytes rows = make_rows(kShape, RowContents::noise);
  rows[std::size_t(39) * 61] = std::byte(5);
  EXPECT_EQ(irregularity_of(compress(rows, {})), Irregularity::filter);
}

/// A deflate block behind the header of zlib, and zeros. The first bit is in the lowest position;
/// spaces do not count.
Bytes stream_of_bits(std::string_view bits) {
  Bytes stream{std::byte(0x78), std::byte(0x01)};
  int count = 0;
  for (const char bit : bits) {
    if (bit == ' ') continue;
    if (count % 8 == 0) stream.push_back({});
    if (bit == '1') stream.back() |= std::byte(1 << count % 8);
    ++count;
  }
  stream.resize(stream.size() + 8);
  return stream;
}

TEST(Inflate, reports_invalid_blocks) {
  EXPECT_EQ(irregularity_of(stream_of_bits("111")), Irregularity::block) << "no such type";
  EXPECT_EQ(irregularity_of(stream_of_bits("100")), Irregularity::block) << "size of a stored one";
  EXPECT_EQ(irregularity_of(stream_of_bits("101 01111 0000 0000")), Irregularity::code_lengths)
      << "no lengths of lengths";
}

TEST(Inflate, reports_invalid_fixed_codes) {
  const std::string begin = "110 ", length_3 = "0000001 ", distance_1 = "00000 ",
                    distance_symbol_30 = "11110 ", literal_0 = "00110000 ", end = "0000000 ";
  EXPECT_EQ(irregularity_of(stream_of_bits(begin + "11000110")), Irregularity::code)
      << "symbol 286";
  EXPECT_EQ(
      irregularity_of(stream_of_bits(begin + literal_0 + length_3 + distance_symbol_30 + end)),
      Irregularity::code);
  EXPECT_EQ(irregularity_of(stream_of_bits(begin + length_3 + distance_1 + end)),
            Irregularity::distance)
      << "before the first byte";
  EXPECT_EQ(irregularity_of(stream_of_bits(begin + literal_0 + length_3 + distance_1 + end)),
            Irregularity::data_left)
      << "4 bytes of 2,440, but the bytes of this stream are looked at first";
}

/// Blocks without data take longest for their size: 48,000 of them would take seconds.
TEST(Inflate, reports_streams_that_take_much_longer_than_others) {
  std::string blocks;
  for (int i = 0; i < 1000; ++i) blocks += "0 10 0000000 ";
  EXPECT_EQ(irregularity_of(stream_of_bits(blocks)), Irregularity::work);
}

TEST(Inflate, decodes_to_the_pixels) {
  const Bytes rows = make_rows({2, 2, 3, Depth::u8}, RowContents::gradient);
  const auto found = decode(EncodedPng{{2, 2, 3, Depth::u8}, compress(rows, {})});
  ASSERT_TRUE(std::holds_alternative<Image>(found));
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(std::get<Image>(found).data());
  const auto at = [&](int i) { return std::to_integer<int>(rows[std::size_t(i)]); };
  for (int i = 0; i < 6; ++i) EXPECT_EQ(pixels[i], at(1 + i));      // no filter
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pixels[6 + i], at(8 + i));  // sub
  for (int i = 3; i < 6; ++i) EXPECT_EQ(pixels[6 + i], (at(8 + i) + pixels[3 + i]) & 255);
}

}  // namespace
}  // namespace eckart::codec::png
