// Tests what is read and written besides pixels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "codec/file_bytes.hpp"
#include "codec/jpeg_encoder.hpp"
#include "codec/jpeg_metadata.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_contents.hpp"
#include "tests/support/file_around.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/metadata_file.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_literals;
using test::all_metadata;
using test::as_bytes;
using test::as_string;
using test::Bytes;
using test::encode_with;
using test::kMetadataShape;
using test::make_exif;
using test::make_icc;
using test::PngMaker;
using test::read_metadata;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Image kRgb = test::noise_image(kMetadataShape);

class MetadataTest : public testing::TestWithParam<Decoder> {};
INSTANTIATE_TEST_SUITE_P(Decoders, MetadataTest, testing::Values(Decoder::strict, Decoder::opencv),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(MetadataTest, survives_in_each_format) {
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg, ImageFormat::webp}) {
    const Metadata written = all_metadata();
    const Metadata metadata = read_metadata(encode_with(format, written), GetParam());
    EXPECT_EQ(metadata.icc, written.icc);
    EXPECT_EQ(metadata.exif, written.exif);
    EXPECT_EQ(metadata.xmp, written.xmp);
    EXPECT_EQ(metadata.density, written.density);
    EXPECT_THAT(metadata.dropped, IsEmpty());
  }
}

TEST_P(MetadataTest, is_absent_if_the_file_has_none) {
  for (const ImageFormat format :
       {ImageFormat::png, ImageFormat::jpeg, ImageFormat::webp, ImageFormat::tiff}) {
    const Metadata metadata = read_metadata(encode_with(format, {}), GetParam());
    EXPECT_EQ(metadata.bytes(), 0U);
    EXPECT_EQ(metadata.density, std::nullopt);
    EXPECT_EQ(metadata.color, PngColor{});
    EXPECT_THAT(metadata.dropped, IsEmpty());
  }
}

TEST(PngMetadata, keeps_the_chunks_of_colors) {
  Metadata written;
  written.color = {.gamma = 45455,
                   .chromaticities = {{31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000}},
                   .cicp = {{9, 16, 0, 1}},
                   .rendering_intent = std::uint8_t(1)};
  written.density = PixelDensity{3, 4, true};
  const Metadata metadata = read_metadata(encode_with(ImageFormat::png, written));
  EXPECT_EQ(metadata.color, written.color);
  EXPECT_EQ(metadata.density, written.density);
}

/// Returns "type data" of each chunk but IDAT.
std::vector<std::string> chunks_of(const Bytes& file) {
  std::vector<std::string> all;
  FileBytes bytes(file);
  PngChunkReader reader(bytes);
  while (reader.has_next()) {
    const PngChunk chunk = reader.next();
    const std::string data = as_string(file).substr(chunk.offset, chunk.size);
    if (chunk.type != "IDAT" && chunk.type != "IHDR") all.push_back(chunk.type + " " + data);
  }
  return all;
}

TEST(PngMetadata, is_written_as_the_format_requires) {
  Metadata metadata{.exif = as_bytes("II*\0"s), .xmp = as_bytes("<x/>")};
  metadata.density = PixelDensity{1, 258};
  metadata.color.gamma = 45455;
  const std::vector<TextEntry> texts{{"Software", "eckart"}, {"eckart:rank", "20"}};
  EXPECT_THAT(chunks_of(encode_with(ImageFormat::png, metadata, {}, texts)),
              ElementsAre("gAMA \0\0\xB1\x8F"s, "pHYs \0\0\0\1\0\0\1\2\1"s, "eXIf II*\0"s,
                          "iTXt XML:com.adobe.xmp\0\0\0\0\0<x/>"s, "tEXt Software\0eckart"s,
                          "tEXt eckart:rank\0"s + "20", "IEND "));
}

Bytes png_with(const std::string& type, const std::string& data) {
  return PngMaker(1, 1, 8, 0).chunk(type, data).pixels("\0\1"s).end();
}

std::string compressed(const std::string& text) {
  return as_string(compress_zlib(std::as_bytes(std::span(text)), 9));
}

TEST_P(MetadataTest, is_dropped_and_named_if_it_is_damaged) {
  for (const auto& [type, data] : std::vector<std::pair<std::string, std::string>>{
           {"iCCP", "name"},
           {"iCCP", "name\0\0not zlib"s},
           {"iCCP", "name\0\0"s + compressed("not a profile")},
           {"iCCP", "name\0\1"s + compressed(as_string(make_icc()))},
           {"eXIf", "damaged"},
           {"iTXt", "XML:com.adobe.xmp\0\1\0\0\0not zlib"s},
           {"iTXt", "XML:com.adobe.xmp\0\0"s},
           {"pHYs", "short"},
           {"gAMA", "\0\0\0\0"s},
           {"cHRM", ""},
           {"cICP", "123"},
           {"sRGB", "\7"}}) {
    const Metadata metadata = read_metadata(png_with(type, data), GetParam());
    EXPECT_THAT(metadata.dropped, HasSubstr(type + " chunk (")) << data;
    EXPECT_EQ(metadata.bytes(), 0U);
  }
}

TEST(PngMetadata, is_dropped_if_the_crc_is_wrong) {
  Bytes file = png_with("eXIf", as_string(make_exif({.orientation = 1})));
  const std::size_t at = as_string(file).find("Maker");
  file[at] = std::byte('m');
  EXPECT_EQ(read_metadata(file).dropped, "eXIf chunk (wrong CRC)");
}

TEST(PngMetadata, is_found_behind_the_pixels) {
  const Bytes file = PngMaker(1, 1, 8, 0)
                         .pixels("\0\1"s)
                         .chunk("iTXt", "XML:com.adobe.xmp\0\0\0en\0\0<x/>"s)
                         .end();
  EXPECT_EQ(as_string(read_metadata(file).xmp), "<x/>");
}

/// Chunks of the same type hold titles and descriptions.
TEST(PngMetadata, is_found_behind_another_text) {
  const Bytes file = PngMaker(1, 1, 8, 0)
                         .chunk("iTXt", "Title\0\0\0en\0\0text"s)
                         .chunk("iTXt", "XML:com.adobe.xmp\0\0\0\0\0<x/>"s)
                         .pixels("\0\1"s)
                         .end();
  EXPECT_EQ(as_string(read_metadata(file).xmp), "<x/>");
}

TEST(PngMetadata, reads_a_compressed_packet) {
  const std::string packet(100000, ' ');
  const Metadata metadata =
      read_metadata(png_with("iTXt", "XML:com.adobe.xmp\0\1\0\0\0"s + compressed(packet)));
  EXPECT_EQ(as_string(metadata.xmp), packet);
}

TEST_P(MetadataTest, is_dropped_if_it_inflates_too_much) {
  const std::string bomb = compressed(std::string(std::size_t(64) << 20, '\0'));
  for (const Bytes& file : {png_with("iCCP", "name\0\0"s + bomb),
                            png_with("iTXt", "XML:com.adobe.xmp\0\1\0\0\0"s + bomb)}) {
    EXPECT_LT(detect_codec(file, GetParam()).read_header(file).max_metadata_bytes, 17U << 20);
    EXPECT_THAT(read_metadata(file, GetParam()).dropped, HasSubstr("larger than 16777216 bytes"));
  }
}

TEST_P(MetadataTest, is_dropped_instead_of_the_image_if_it_exceeds_the_decode_limit) {
  const std::string packet(std::size_t(2) << 20, ' ');
  const Bytes file = png_with("iTXt", "XML:com.adobe.xmp\0\1\0\0\0"s + compressed(packet));
  EXPECT_THAT(read_metadata(file, GetParam(), {.decode_mb = 1}).dropped,
              HasSubstr("iTXt chunk (damaged"));
  EXPECT_THAT(read_metadata(file, GetParam(), {.decode_mb = 3}).dropped, IsEmpty());
}

TEST(Metadata, is_within_the_decode_limit_in_webp_and_tiff) {
  constexpr std::size_t kBytes = std::size_t(3) << 19;  // 1.5 MiB
  for (const ImageFormat format : {ImageFormat::webp, ImageFormat::tiff}) {
    const Bytes file = encode_with(format, {.xmp = Bytes(kBytes, std::byte(' '))});
    EXPECT_EQ(read_metadata(file).xmp.size(), kBytes);
    const Metadata metadata = read_metadata(file, Decoder::strict, {.decode_mb = 2});
    EXPECT_EQ(metadata.dropped, "XMP (too large)");
    EXPECT_EQ(metadata.bytes(), 0U);
  }
}

TEST(PngMetadata, exchanges_densities_if_the_image_is_turned) {
  const Bytes file = PngMaker(1, 1, 8, 0)
                         .chunk("pHYs", "\0\0\0\1\0\0\0\2\1"s)
                         .chunk("eXIf", as_string(make_exif({.orientation = 6})))
                         .pixels("\0\1"s)
                         .end();
  EXPECT_EQ(read_metadata(file).density, (PixelDensity{2, 1}));
}

/// Some programs write it as in a JPEG.
TEST_P(MetadataTest, may_have_the_prefix_of_jpeg_in_a_png) {
  const Bytes exif = make_exif({.orientation = 6});
  const Bytes file =
      PngMaker(2, 1, 8, 0).chunk("eXIf", "Exif\0\0"s + as_string(exif)).pixels("\0\1\2"s).end();
  const Picture picture = detect_codec(file, GetParam()).decode(file, {});
  EXPECT_EQ(picture.pixels.shape(), (ImageShape{2, 1, 1, Depth::u8}));
  EXPECT_EQ(picture.metadata.exif, exif);
}

/// A JPEG with these segments behind its start: marker and data.
Bytes jpeg_with(const std::vector<std::pair<int, std::string>>& segments) {
  std::string all;
  for (const auto& [marker, data] : segments) {
    const std::size_t size = data.size() + 2;
    all += {'\xFF', char(marker), char(size >> 8), char(size & 255)};
    all += data;
  }
  return test::with_inserted(test::make_jpeg(kRgb, {}), 2, all);
}

TEST_P(MetadataTest, is_joined_from_segments_in_the_order_of_their_numbers) {
  const std::string profile = as_string(make_icc("RGB ", 1000)), prefix = "ICC_PROFILE\0"s;
  const auto part = [&](int number, int count, std::string_view data) {
    return std::pair{0xE2, prefix + char(number) + char(count) + std::string(data)};
  };
  const std::string_view first(profile.data(), 600), second(profile.data() + 600, 400);
  EXPECT_EQ(
      as_string(read_metadata(jpeg_with({part(2, 2, second), part(1, 2, first)}), GetParam()).icc),
      profile);
  for (const auto& damaged :
       {std::vector{part(1, 2, first)}, std::vector{part(1, 2, first), part(2, 3, second)},
        std::vector{part(0, 0, first)}, std::vector{part(1, 1, first)}}) {
    const Metadata metadata = read_metadata(jpeg_with(damaged), GetParam());
    EXPECT_EQ(metadata.dropped, "ICC profile (damaged)");
    EXPECT_THAT(metadata.icc, IsEmpty());
  }
}

TEST(JpegMetadata, has_profiles_of_several_segments) {
  Metadata written;
  written.icc = make_icc("RGB ", 200000);
  EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, written)).icc, written.icc);
}

TEST(JpegMetadata, keeps_the_standard_packet_of_extended_xmp) {
  const Metadata metadata =
      read_metadata(jpeg_with({{0xE1, "http://ns.adobe.com/xap/1.0/\0<x/>"s},
                               {0xE1, "http://ns.adobe.com/xmp/extension/\0guid"s + "data"}}));
  EXPECT_EQ(as_string(metadata.xmp), "<x/>");
  EXPECT_EQ(metadata.dropped, "extended XMP (only the standard packet is kept)");
}

TEST(JpegMetadata, drops_damaged_exif) {
  EXPECT_EQ(read_metadata(jpeg_with({{0xE1, "Exif\0\0damaged"s}})).dropped, "EXIF (damaged)");
}

TEST(JpegMetadata, takes_the_density_of_exif_if_jfif_has_none) {
  const std::string exif = "Exif\0\0"s + as_string(make_exif({.orientation = 1}));
  EXPECT_EQ(read_metadata(jpeg_with({{0xE1, exif}})).density, (PixelDensity{11811, 5906}));
  EXPECT_EQ(
      read_metadata(jpeg_with({{0xE0, "JFIF\0\1\1\2\0\x76\0\x76\0\0"s}, {0xE1, exif}})).density,
      (PixelDensity{11800, 11800}));
}

TEST(JpegMetadata, exchanges_densities_if_the_image_is_turned) {
  const std::string exif = "Exif\0\0"s + as_string(make_exif({.orientation = 6}));
  EXPECT_EQ(read_metadata(jpeg_with({{0xE1, exif}})).density, (PixelDensity{5906, 11811}));
}

TEST(JpegMetadata, keeps_densities_in_inches_and_centimeters) {
  for (const PixelDensity density : {PixelDensity{11811, 11811}, PixelDensity{2835, 5906},
                                     PixelDensity{11800, 11800}, PixelDensity{10, 11, true}}) {
    Metadata written;
    written.density = density;
    EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, written)).density, density);
  }
}

TEST(JpegEncoder, keeps_the_subsampling_of_a_jpeg) {
  for (const ChromaSubsampling subsampling : {ChromaSubsampling{1, 1}, ChromaSubsampling{2, 1},
                                              ChromaSubsampling{2, 2}, ChromaSubsampling{4, 1}}) {
    const Metadata metadata = read_metadata(
        test::make_jpeg(kRgb, {.chroma_cols = subsampling.cols, .chroma_rows = subsampling.rows}));
    EXPECT_EQ(metadata.subsampling, subsampling);
    EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, metadata)).subsampling, subsampling);
    EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, metadata,
                                        {.jpeg_subsampling = JpegSubsampling::k422}))
                  .subsampling,
              (ChromaSubsampling{2, 1}));
  }
  EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, {})).subsampling,
            (ChromaSubsampling{1, 1}));
}

TEST(JpegEncoder, keeps_the_subsampling_of_a_turned_jpeg) {
  const std::string exif = "Exif\0\0"s + as_string(make_exif({.orientation = 6}));
  const std::string segment =
      "\xFF\xE1"s + char((exif.size() + 2) >> 8) + char(exif.size() + 2) + exif;
  for (const auto& [cols, rows] : {std::pair{1, 1}, {2, 1}, {2, 2}, {4, 1}, {1, 2}}) {
    const Metadata metadata = read_metadata(test::with_inserted(
        test::make_jpeg(kRgb, {.chroma_cols = cols, .chroma_rows = rows}), 2, segment));
    EXPECT_EQ(metadata.subsampling, (ChromaSubsampling{rows, cols}));
    EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, {.subsampling = metadata.subsampling}))
                  .subsampling,
              metadata.subsampling);
  }
}

TEST(JpegEncoder, writes_progressive_and_optimized_files_with_the_same_pixels) {
  const Bytes baseline = encode_with(ImageFormat::jpeg, {});
  const Bytes optimized = encode_with(ImageFormat::jpeg, {}, {.jpeg_optimize = true});
  const Bytes progressive = encode_with(ImageFormat::jpeg, {}, {.jpeg_progressive = true});
  EXPECT_LT(optimized.size(), baseline.size());
  constexpr int kProgressive = 0xC2;
  EXPECT_LT(test::find_marker(progressive, kProgressive), std::ptrdiff_t(progressive.size()));
  const Image pixels = codec_for(ImageFormat::jpeg).decode(baseline, {}).pixels;
  for (const Bytes& file : {optimized, progressive})
    EXPECT_TRUE(test::same(codec_for(ImageFormat::jpeg).decode(file, {}).pixels, pixels));
}

TEST(JpegEncoder, writes_texts_as_a_comment) {
  const Bytes file =
      encode_with(ImageFormat::jpeg, {}, {}, {{"Software", "eckart"}, {"eckart:rank", "20"}});
  EXPECT_THAT(as_string(file), HasSubstr("\xFF\xFE\0\x22Software: eckart\neckart:rank: 20"s));
}

/// The data behind the headers, which a backend may have encoded.
TEST(JpegEncoder, makes_the_same_file_of_pixels_that_are_encoded) {
  const Metadata metadata = all_metadata();
  const std::vector<TextEntry> texts{{"Software", "eckart"}};
  const Image no_alpha, unread = test::black_image(kMetadataShape);
  for (const JpegSubsampling choice : {JpegSubsampling::k444, JpegSubsampling::k420}) {
    const EncodeOptions options{.jpeg_quality = 80, .jpeg_subsampling = choice};
    const Bytes file = encode_with(ImageFormat::jpeg, metadata, options, texts);
    const auto data =
        std::span(file).subspan(jpeg::read_encoded_image(file).value().header.scan_offset);
    const PictureView picture(unread, no_alpha, metadata, texts);
    EXPECT_EQ(
        test::file_around(data.first(data.size() - 2),
                          codec_for(ImageFormat::jpeg).encode_head_and_tail(picture, options)),
        file);
  }
}

TEST(PngEncoder, makes_the_same_file_of_pixels_that_are_encoded) {
  const Metadata metadata = all_metadata();
  const std::vector<TextEntry> texts{{"Software", "eckart"}};
  const Image no_alpha, unread = test::black_image(kMetadataShape);
  const Bytes file = encode_with(ImageFormat::png, metadata, {}, texts);
  const std::span<const std::byte> idat = read_png_contents(file).parts.idat;
  const PictureView picture(unread, no_alpha, metadata, texts);
  EXPECT_EQ(test::file_around(idat, codec_for(ImageFormat::png).encode_head_and_tail(picture, {})),
            file);
}

TEST(PngEncoder, makes_smaller_files_of_the_same_pixels) {
  const Image image = test::gradient_image({200, 300, 3, Depth::u8});
  const Codec& png = codec_for(ImageFormat::png);
  const Bytes fast = png.encode(image, {}),
              small = png.encode(image, {.png = PngCompression::small});
  EXPECT_LT(small.size(), fast.size());
  EXPECT_TRUE(test::same(png.decode(fast, {}).pixels, image));
  EXPECT_TRUE(test::same(png.decode(small, {}).pixels, image));
}

/// Isolated samples: no filter is the best one, but the last one that is tried is still better than
/// the first.
TEST(PngEncoder, takes_the_best_filter_of_each_row) {
  constexpr std::size_t kRows = 64, kCols = 96;
  Image image = test::black_image({kRows, kCols, 1, Depth::u8});
  for (int row = 0; row < int(kRows); row += 2) {
    for (int col = row * 7 % 5; col < int(kCols) - 1; col += 5 + row % 3)
      test::set_sample(image, row, col, 0, 100 + (row + col) % 7);
  }
  const Bytes file = codec_for(ImageFormat::png).encode(image, {.png = PngCompression::small});
  const auto idat = read_png_contents(file).parts.idat;
  constexpr std::size_t kBefore = 8, kAfter = 4;  // length and type; CRC
  const auto rows =
      inflate_zlib(idat.subspan(kBefore, idat.size() - kBefore - kAfter), kRows * (1 + kCols));
  ASSERT_TRUE(rows);
  for (std::size_t row = 0; row < kRows; ++row)
    EXPECT_EQ((*rows)[row * (1 + kCols)], std::byte(0)) << row;
}

Image opaque_alpha(const ImageShape& shape) {
  Image alpha({shape.rows, shape.cols, 1, shape.depth});
  std::fill_n(alpha.data(), alpha.bytes(), std::byte(0xFF));
  return alpha;
}

/// Opaque, because then the pixels are read back.
TEST(PngEncoder, writes_alpha_behind_the_other_channels) {
  constexpr std::size_t kColorType = 25;  // offset in the file
  for (const int channels : {1, 3}) {
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      const Image image = test::noise_image({13, 17, channels, depth});
      const Image alpha = opaque_alpha(image.shape());
      const Bytes file = codec_for(ImageFormat::png).encode(PictureView(image, alpha, {}), {});
      EXPECT_EQ(int(file[kColorType]), channels == 1 ? 4 : 6);
      EXPECT_TRUE(test::same(codec_for(ImageFormat::png).decode(file, {}).pixels, image));
    }
  }
}

TEST(JpegEncoder, has_the_density_that_jfif_can_hold) {
  struct Case {
    PixelDensity written;
    std::optional<PixelDensity> read;
  };
  for (const Case& expected :
       {Case{{2835, 2835}, PixelDensity{2835, 2835}},      // 72 per inch
        Case{{11811, 11811}, PixelDensity{11811, 11811}},  // 300 per inch
        Case{{10000, 20000}, PixelDensity{10000, 20000}},  // 100 and 200 per centimeter
        Case{{1234, 5678}, PixelDensity{1220, 5669}},      // 31 and 144 per inch
        Case{{3, 4, true}, PixelDensity{3, 4, true}},      // a ratio
        Case{{5, 5, true}, std::nullopt},                  // which is none
        Case{{10, 10000}, std::nullopt},                   // less than one per inch
        Case{{65535, 65535, true}, std::nullopt},
        Case{{65535, 1, true}, PixelDensity{65535, 1, true}},
        Case{{65536, 1, true}, std::nullopt}}) {
    Metadata written;
    written.density = expected.written;
    EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, written)).density, expected.read)
        << expected.written.x << " " << expected.written.y;
  }
}

TEST(JpegEncoder, has_the_subsampling_that_is_chosen) {
  const Metadata of_jpeg{.subsampling = ChromaSubsampling{2, 1}};
  const ImageShape gray{8, 8, 1, Depth::u8};
  for (const auto& [choice, expected] : {std::pair{JpegSubsampling::keep, ChromaSubsampling{2, 1}},
                                         {JpegSubsampling::k444, ChromaSubsampling{1, 1}},
                                         {JpegSubsampling::k422, ChromaSubsampling{2, 1}},
                                         {JpegSubsampling::k420, ChromaSubsampling{2, 2}}}) {
    EXPECT_EQ(jpeg_subsampling(kMetadataShape, &of_jpeg, choice), expected) << to_string(choice);
    EXPECT_EQ(jpeg_subsampling(gray, &of_jpeg, choice), (ChromaSubsampling{1, 1}));
    EXPECT_EQ(read_metadata(encode_with(ImageFormat::jpeg, of_jpeg, {.jpeg_subsampling = choice}))
                  .subsampling,
              expected);
  }
  EXPECT_EQ(jpeg_subsampling(kMetadataShape, nullptr, JpegSubsampling::keep),
            (ChromaSubsampling{1, 1}));
}

TEST(JpegMetadata, has_the_first_segments_of_each_kind) {
  const std::string exif = "Exif\0\0"s + as_string(make_exif({.orientation = 1})),
                    other = "Exif\0\0"s + as_string(make_exif({.orientation = 6})),
                    xmp = "http://ns.adobe.com/xap/1.0/\0"s,
                    extended = "http://ns.adobe.com/xmp/extension/\0"s, jfif = "JFIF\0\1\1"s;
  const Metadata metadata = read_metadata(jpeg_with({{0xE0, jfif + "\1\0\x48\0\x90\0\0"s},
                                                     {0xE0, jfif + "\2\0\1\0\1\0\0"s},
                                                     {0xE1, exif},
                                                     {0xE1, other},
                                                     {0xE1, xmp + "<x/>"},
                                                     {0xE1, xmp + "<y/>"},
                                                     {0xE1, extended + "a"},
                                                     {0xE1, extended + "b"},
                                                     {0xE1, "unknown"}}));
  EXPECT_EQ(metadata.density, (PixelDensity{2835, 5669}));
  EXPECT_EQ(as_string(metadata.exif), exif.substr(6));
  EXPECT_EQ(as_string(metadata.xmp), "<x/>");
  EXPECT_EQ(metadata.dropped, "extended XMP (only the standard packet is kept)");
  EXPECT_EQ(read_metadata(jpeg_with({{0xE0, jfif + "\0\0\3\0\4\0\0"s}})).density,
            (PixelDensity{3, 4, true}));
  for (const std::string& none : {"\0\0\3\0\3\0\0"s, "\1\0\0\0\3\0\0"s, "\3\0\3\0\4\0\0"s})
    EXPECT_EQ(read_metadata(jpeg_with({{0xE0, jfif + none}})).density, std::nullopt);
}

TEST(PngMetadata, says_why_a_chunk_is_dropped) {
  const std::string xmp = "XML:com.adobe.xmp\0"s;
  for (const auto& [type, data, why] : std::vector<std::array<std::string, 3>>{
           {"iCCP", "name", "invalid"},
           {"iCCP", "name\0"s, "invalid"},
           {"iCCP", "name\0\1"s + compressed(as_string(make_icc())), "invalid"},
           {"iCCP", "name\0\0"s + compressed("not a profile"), "not an ICC profile"},
           {"iCCP", "name\0\0not zlib"s, "damaged, or larger than 14544 bytes"},
           {"eXIf", "damaged", "not EXIF data"},
           {"iTXt", xmp + "\0", "invalid"},
           {"iTXt", xmp + "\0\0en\0"s, "invalid"},
           {"pHYs", "short", "invalid"},
           {"pHYs", "\0\0\0\0\0\0\0\1\1"s, "invalid"},
           {"pHYs", "\0\0\0\1\0\0\0\1\2"s, "invalid"},
           {"gAMA", "\0\0\0\0"s, "invalid"},
           {"cHRM", "12345678", "invalid"},
           {"cICP", "123", "invalid"},
           {"sRGB", "\4", "invalid"},
           {"sRGB", "", "invalid"}}) {
    EXPECT_EQ(read_metadata(png_with(type, data)).dropped, type + " chunk (" + why + ")");
  }
  EXPECT_EQ(read_metadata(png_with("sRGB", "\3")).color.rendering_intent, std::uint8_t(3));
}

TEST(PngMetadata, has_the_first_chunk_of_each_kind) {
  const std::string xmp = "XML:com.adobe.xmp\0\0\0\0\0"s;
  const Bytes file = PngMaker(1, 1, 8, 0)
                         .chunk("gAMA", "\0\0\0\1"s)
                         .chunk("gAMA", "\0\0\0\2"s)
                         .chunk("iTXt", xmp + "<x/>")
                         .pixels("\0\1"s)
                         .chunk("iTXt", xmp + "<y/>")
                         .chunk("cICP", "\1\2\3\4")
                         .end();
  const Metadata metadata = read_metadata(file);
  EXPECT_EQ(metadata.color.gamma, 1U);
  EXPECT_EQ(metadata.color.cicp, (std::array<std::uint8_t, 4>{1, 2, 3, 4}));
  EXPECT_EQ(as_string(metadata.xmp), "<x/>");
  EXPECT_EQ(metadata.dropped, "");
}

TEST(Metadata, has_a_maximum_of_memory_in_the_header) {
  const auto bytes_of = [](const Bytes& file) {
    return detect_codec(file).read_header(file).max_metadata_bytes;
  };
  const std::string exif = "Exif\0\0"s + std::string(94, 'x');
  EXPECT_EQ(bytes_of(jpeg_with({})), 0u);
  EXPECT_EQ(bytes_of(jpeg_with({{0xE1, exif}, {0xE2, std::string(1000, 'x')}, {0xE3, exif}})),
            100u + 2 * 1000);
  const Bytes png = PngMaker(1, 1, 8, 0).pixels("\0\1"s).end();
  EXPECT_EQ(bytes_of(png), png.size());
  const Bytes profile = png_with("iCCP", std::string(10, 'x')),
              text = png_with("iTXt", "XML:com.adobe.xmp\0\1"s),
              plain = png_with("iTXt", "Title\0"s);
  EXPECT_EQ(bytes_of(profile), profile.size() + 1032 * 10);
  EXPECT_EQ(bytes_of(text), text.size() + 1032 * 19);
  EXPECT_EQ(bytes_of(plain), plain.size());
  const Bytes webp = encode_with(ImageFormat::webp, {}), tiff = encode_with(ImageFormat::tiff, {});
  EXPECT_EQ(bytes_of(webp), webp.size());
  EXPECT_EQ(bytes_of(tiff), 2 * tiff.size());
}

}  // namespace
}  // namespace eckart::codec
