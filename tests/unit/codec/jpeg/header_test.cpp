// Which files this decoder leaves to libjpeg because of their segments.
#include "codec/jpeg/header.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/codec/jpeg/both_decoders.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart::codec::jpeg {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::find_marker;
using test::JpegOptions;
using test::make_jpeg;
using test::noise_image;
using test::with_inserted;

constexpr int kSof0 = 0xC0, kDht = 0xC4, kSos = 0xDA, kDqt = 0xDB, kApp0 = 0xE0;
constexpr auto kAdobeRgb =
    "\xFF\xEE\0\x0E"
    "Adobe\0\x64\0\0\0\0\0"sv;
constexpr auto kAdobeYcc =
    "\xFF\xEE\0\x0E"
    "Adobe\0\x64\0\0\0\0\1"sv;

Bytes color_file(const JpegOptions& kind = {}) {
  return make_jpeg(noise_image({24, 40, 3, Depth::u8}), kind);
}

Irregularity irregularity(const Bytes& file) {
  JpegHeader header;
  return parse_header(file, header);
}

/// Without the file's first segment of this marker.
Bytes without(Bytes file, int marker) {
  const auto at = file.begin() + find_marker(file, marker);
  file.erase(at, at + 2 + (int(at[2]) << 8) + int(at[3]));
  return file;
}

Bytes with_byte(Bytes file, std::ptrdiff_t at, int value) {
  file[std::size_t(at)] = std::byte(value);
  return file;
}

TEST(JpegHeader, has_the_layout_of_the_file) {
  JpegHeader header;
  ASSERT_EQ(parse_header(color_file({.chroma_cols = 2, .chroma_rows = 1}), header),
            Irregularity::none);
  EXPECT_EQ(header.shape(), (ImageShape{24, 40, 3, Depth::u8}));
  EXPECT_EQ(header.layout.across, 2);
  EXPECT_EQ(header.layout.down, 1);
  EXPECT_EQ(header.layout.blocks(), 3 * 3 * 4);
}

TEST(JpegHeader, leaves_other_processes_to_libjpeg) {
  EXPECT_EQ(irregularity(color_file({.progressive = true})), Irregularity::process);
  EXPECT_EQ(irregularity(color_file({.arithmetic = true})), Irregularity::process);
  EXPECT_EQ(irregularity(color_file({.interleaved = false})), Irregularity::scan);
  EXPECT_EQ(irregularity(color_file({.restart_interval = 2})), Irregularity::restart_interval);
  EXPECT_EQ(irregularity(color_file({.chroma_cols = 4})), Irregularity::frame);
}

TEST(JpegHeader, leaves_frames_that_libjpeg_refuses) {
  const Bytes file = color_file();
  const std::ptrdiff_t frame = find_marker(file, kSof0) + 4;
  for (const auto& [offset, value] : std::vector<std::pair<int, int>>{
           {0, 12}, {2, 0}, {4, 0}, {5, 4}, {5, 1}, {6, 2}, {7, 0}, {7, 0x31}, {10, 0x12}})
    EXPECT_EQ(irregularity(with_byte(file, frame + offset, value)), Irregularity::frame) << offset;
  EXPECT_EQ(irregularity(without(file, kSof0)), Irregularity::segments);
}

/// As libjpeg decides: JFIF, then Adobe, then the names of the components.
TEST(JpegHeader, leaves_rgb_files_to_libjpeg) {
  const Bytes jfif = color_file(), bare = without(jfif, kApp0);
  EXPECT_EQ(decode_with_both(bare), Irregularity::none);
  EXPECT_EQ(decode_with_both(with_inserted(bare, 2, kAdobeYcc)), Irregularity::none);
  EXPECT_EQ(decode_with_both(with_inserted(bare, 2, kAdobeRgb)), Irregularity::color_space);
  EXPECT_EQ(decode_with_both(with_inserted(jfif, 2, kAdobeRgb)), Irregularity::none);
  Bytes rgb = bare;
  const auto frame = std::size_t(find_marker(rgb, kSof0)),
             scan = std::size_t(find_marker(rgb, kSos));
  for (std::size_t c = 0; c < 3; ++c)
    rgb[frame + 10 + 3 * c] = rgb[scan + 5 + 2 * c] = std::byte("RGB"[c]);
  EXPECT_EQ(decode_with_both(rgb), Irregularity::color_space);
  EXPECT_EQ(decode_with_both(with_inserted(rgb, 2, kAdobeYcc)), Irregularity::none);
}

TEST(JpegHeader, leaves_files_with_missing_tables_to_libjpeg) {
  EXPECT_EQ(irregularity(without(color_file(), kDqt)), Irregularity::tables);
  EXPECT_EQ(irregularity(without(color_file(), kDht)), Irregularity::tables);
}

TEST(JpegHeader, leaves_unexpected_segments_to_libjpeg) {
  const Bytes file = color_file();
  for (const std::string_view inserted :
       {"\xFF\xD8"sv, "\xFF\x01"sv, "\x12"sv, "\xFF\xDC\0\4\0\x18"sv, "\xFF\xFE\0\1"sv})
    EXPECT_EQ(irregularity(with_inserted(file, 2, inserted)), Irregularity::segments);
  EXPECT_EQ(decode_with_both(with_inserted(file, 2, "\xFF\xFE\0\5abc"sv)), Irregularity::none);
}

TEST(JpegHeader, leaves_scans_of_some_coefficients_to_libjpeg) {
  const Bytes file = color_file();
  const std::ptrdiff_t scan = find_marker(file, kSos) + 4;
  for (const auto& [offset, value] :
       std::vector<std::pair<int, int>>{{0, 1}, {1, 3}, {4, 0}, {7, 1}, {8, 62}, {9, 1}})
    EXPECT_EQ(irregularity(with_byte(file, scan + offset, value)), Irregularity::scan) << offset;
}

TEST(JpegHeader, finds_that_files_have_equal_tables) {
  JpegHeader a, b, c;
  ASSERT_EQ(parse_header(color_file({.quality = 80}), a), Irregularity::none);
  ASSERT_EQ(parse_header(make_jpeg(noise_image({9, 9, 3, Depth::u8}), {.quality = 80}), b),
            Irregularity::none);
  ASSERT_EQ(parse_header(color_file({.quality = 81}), c), Irregularity::none);
  EXPECT_EQ(a.tables, b.tables);
  EXPECT_EQ(TableSpecsHash()(a.tables), TableSpecsHash()(b.tables));
  EXPECT_FALSE(a.tables == c.tables);
}

}  // namespace
}  // namespace eckart::codec::jpeg
