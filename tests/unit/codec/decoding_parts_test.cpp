// Parts that several codecs share: orientation, the bytes of a file, zlib streams, JPEG padding and
// the memory that headers announce.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "codec/deflate.hpp"
#include "codec/density_units.hpp"
#include "codec/file_bytes.hpp"
#include "codec/icc_profile.hpp"
#include "codec/orientation.hpp"
#include "codec/packed_samples.hpp"
#include "codec/unpadded_jpeg.hpp"
#include "tests/unit/codec/bmp_maker.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"
#include "tests/unit/codec/tiff_maker.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::noise_image;
using testing::ElementsAre;

/// The bytes of a pixel.
std::string pixel_at(const Image& image, int row, int col) {
  const std::size_t bytes = image.bytes() / std::size_t(image.shape().rows * image.shape().cols);
  const auto at = std::size_t(row * image.shape().cols + col) * bytes;
  return {reinterpret_cast<const char*>(image.data()) + at, bytes};
}

/// CIPA DC-008, 4.6.4: where row 0 and column 0 of the file are in the upright image.
TEST(Orientation, moves_every_pixel_to_its_place) {
  for (const ImageShape& shape :
       {ImageShape{37, 70, 1, Depth::u8}, ImageShape{70, 37, 3, Depth::u8},
        ImageShape{33, 40, 1, Depth::u16}, ImageShape{40, 33, 3, Depth::u16},
        ImageShape{5, 3, 1, Depth::f32}, ImageShape{3, 5, 3, Depth::f32}}) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Image before = noise_image(shape),
                  after = apply_orientation(noise_image(shape), orientation);
      const bool is_turned = orientation >= 5;
      ASSERT_EQ(after.shape(),
                (ImageShape{is_turned ? shape.cols : shape.rows,
                            is_turned ? shape.rows : shape.cols, shape.channels, shape.depth}));
      const int last_row = shape.rows - 1, last_col = shape.cols - 1;
      for (int row = 0; row < shape.rows; ++row) {
        for (int col = 0; col < shape.cols; ++col) {
          const std::array<std::array<int, 2>, 8> places{{{row, col},
                                                          {row, last_col - col},
                                                          {last_row - row, last_col - col},
                                                          {last_row - row, col},
                                                          {col, row},
                                                          {col, last_row - row},
                                                          {last_col - col, last_row - row},
                                                          {last_col - col, row}}};
          const auto [to_row, to_col] = places[std::size_t(orientation - 1)];
          ASSERT_EQ(pixel_at(after, to_row, to_col), pixel_at(before, row, col))
              << orientation << ": " << row << " " << col;
        }
      }
    }
  }
}

TEST(Orientation, is_the_same_for_pixels_and_alpha) {
  const ImageShape shape{4, 6, 3, Depth::u8}, alpha{4, 6, 1, Depth::u8};
  const Picture turned = apply_orientation(Picture{noise_image(shape), noise_image(alpha), {}}, 6);
  EXPECT_TRUE(test::same(turned.pixels, apply_orientation(noise_image(shape), 6)));
  EXPECT_TRUE(test::same(turned.alpha, apply_orientation(noise_image(alpha), 6)));
  EXPECT_TRUE(apply_orientation(Picture{noise_image(shape), {}, {}}, 6).alpha.empty());
}

/// A file of numbered bytes that counts what is read.
struct CountedFile {
  std::size_t size, read = 0, calls = 0;
  FileBytes bytes() {
    return {size, [this](std::size_t offset, std::span<std::byte> buffer) {
              const std::size_t count = std::min(buffer.size(), size - std::min(size, offset));
              for (std::size_t i = 0; i < count; ++i) buffer[i] = std::byte((offset + i) % 251);
              read += count;
              ++calls;
              return count;
            }};
  }
};

TEST(FileWindow, is_read_a_few_at_a_time) {
  CountedFile file{100000};
  FileBytes bytes = file.bytes();
  EXPECT_EQ(bytes.size(), 100000u);
  EXPECT_TRUE(bytes.whole().empty());
  for (std::size_t at = 0; at < 8192; at += 64) EXPECT_EQ(bytes.at(at, 8)[0], std::byte(at % 251));
  EXPECT_EQ(file.calls, 1u);
  EXPECT_EQ(file.read, 8192u);
  EXPECT_GE(bytes.at(90000, 10).size(), 10u);
  EXPECT_EQ(file.read, 8192u + 64) << "little after a skip";
  EXPECT_EQ(bytes.at(90000, 10)[9], std::byte(90009 % 251));
  EXPECT_EQ(bytes.at(10, 20)[0], std::byte(10)) << "backward";
  EXPECT_EQ(bytes.at(99990, 100).size(), 10u) << "the end of the file";
  EXPECT_TRUE(bytes.at(100000, 1).empty());
  EXPECT_TRUE(bytes.at(200000, 1).empty());
  EXPECT_GE(bytes.at(0, 50000).size(), 50000u);
}

TEST(FileWindow, is_read_up_to_64_mib) {
  CountedFile file{std::size_t(1) << 30};
  FileBytes bytes = file.bytes();
  constexpr std::size_t kMax = std::size_t(64) << 20;
  EXPECT_EQ(bytes.at(0, kMax).size(), kMax);
  EXPECT_NO_THROW(bytes.at(0, 100)) << "not counted twice";
  FileBytes more = file.bytes();
  const test::CaughtError error = failure_of([&] { more.at(0, kMax + 1); });
  EXPECT_EQ(error.reason, FailureReason::too_large);
  EXPECT_EQ(error.detail, "has more than 64 MiB of metadata before its pixels");
}

TEST(FileWindow, is_that_in_memory) {
  const Bytes memory = test::to_bytes("0123456789");
  FileBytes bytes(memory);
  EXPECT_EQ(bytes.size(), 10u);
  EXPECT_EQ(bytes.whole().data(), memory.data());
  EXPECT_EQ(bytes.at(3, 2).data(), memory.data() + 3);
  EXPECT_GE(bytes.at(3, 2).size(), 2u);
  EXPECT_EQ(bytes.at(9, 5).size(), 1u);
  EXPECT_TRUE(bytes.at(10, 1).empty());
}

TEST(ZlibStream, is_inflated_up_to_a_limit) {
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100000}) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * i % 253);
    const Bytes stream = compress_zlib(bytes, 6);
    EXPECT_EQ(inflate_zlib(stream, size), bytes) << size;
    EXPECT_EQ(inflate_zlib(stream, 200000), bytes) << size;
    const Bytes part(stream.begin(), stream.end() - 1);
    EXPECT_EQ(inflate_zlib(part, 200000), std::nullopt) << "no checksum";
    if (size == 0) continue;
    EXPECT_EQ(inflate_zlib(stream, size - 1), std::nullopt) << size;
  }
  EXPECT_EQ(inflate_zlib(test::to_bytes("not zlib"), 100), std::nullopt);
  EXPECT_EQ(inflate_zlib({}, 100), std::nullopt);
}

TEST(PackedSample, is_unpacked_from_the_highest_bits) {
  const Bytes packed = test::to_bytes("\x1B\xE4");
  std::vector<std::uint8_t> samples(8);
  unpack_samples(packed.data(), 2, samples);
  EXPECT_THAT(samples, ElementsAre(0, 1, 2, 3, 3, 2, 1, 0));
  samples.resize(3);
  unpack_samples(packed.data(), 4, samples);
  EXPECT_THAT(samples, ElementsAre(1, 0xB, 0xE));
  EXPECT_EQ(packed_bytes(8, 1), 1u);
  EXPECT_EQ(packed_bytes(9, 1), 2u);
  EXPECT_EQ(packed_bytes(3, 4), 2u);
}

TEST(PixelDensity, is_a_whole_number_of_units_if_it_was_rounded_from_one) {
  EXPECT_TRUE(is_whole_number({11811, 2835}, kInchesPerMeter));
  EXPECT_FALSE(is_whole_number({11811, 2836}, kInchesPerMeter));
  EXPECT_FALSE(is_whole_number({11812, 2835}, kInchesPerMeter));
  EXPECT_TRUE(is_whole_number({100, 12300}, kCentimetersPerMeter));
  EXPECT_FALSE(is_whole_number({100, 12301}, kCentimetersPerMeter));
}

TEST(IccProfile, has_the_channels_of_its_color_space) {
  EXPECT_EQ(icc_channels(test::make_icc("RGB ")), 3);
  EXPECT_EQ(icc_channels(test::make_icc("GRAY")), 1);
  EXPECT_EQ(icc_channels(test::make_icc("CMYK")), 0);
  EXPECT_TRUE(is_icc_profile(test::make_icc("RGB ", 128)));
  Bytes other_size = test::make_icc();
  other_size.push_back(std::byte(0));
  EXPECT_FALSE(is_icc_profile(other_size));
  Bytes no_signature = test::make_icc();
  no_signature[36] = std::byte('A');
  EXPECT_FALSE(is_icc_profile(no_signature));
  EXPECT_EQ(icc_channels(no_signature), 0);
  EXPECT_FALSE(is_icc_profile({}));
}

std::vector<std::string> pieces_of(std::string_view text) {
  const Bytes file = test::to_bytes(text);
  UnpaddedJpeg unpadded(file);
  std::vector<std::string> pieces;
  for (auto piece = unpadded.next(); !piece.empty(); piece = unpadded.next())
    pieces.emplace_back(reinterpret_cast<const char*>(piece.data()), piece.size());
  return pieces;
}

TEST(UnpaddedJpeg, leaves_out_zeros_before_markers) {
  using namespace std::string_literals;
  EXPECT_THAT(pieces_of("\xFF\xD8"
                        "abc\0\0\xFF\xD0"
                        "d\0\xFF\xD9"sv),
              ElementsAre("\xFF\xD8"
                          "abc",
                          "\xFF\xD0"
                          "d",
                          "\xFF\xD9"));
  EXPECT_THAT(pieces_of("\xFF\xD8"
                        "a\xFF\0\0\xFF\xD9"sv),
              ElementsAre("\xFF\xD8"
                          "a\xFF\0"s,
                          "\xFF\xD9"))
      << "the zero after FF belongs to the data";
  const std::string segment = "\xFF\xD8\xFF\xE1\0\x06\0\0\xFF\xD9\0\0\0\xFF\xD9"s;
  EXPECT_THAT(pieces_of(segment), ElementsAre("\xFF\xD8\xFF\xE1\0\x06\0\0\xFF\xD9"s, "\xFF\xD9"))
      << "the bytes of a segment stay";
  EXPECT_THAT(pieces_of("abc"), ElementsAre("abc"));
  EXPECT_THAT(pieces_of(""), ElementsAre());
}

/// Memory beside the file, which limits.decode_mb and the memory budget refer to.
TEST(DecodeMemory, is_that_of_pixels_and_what_the_decoder_needs_beside_them) {
  const auto bytes_of = [](ImageFormat format, const Bytes& file,
                           Decoder decoder = Decoder::strict) {
    const Codec& codec = detect_codec(file, decoder);
    EXPECT_EQ(codec.format, format);
    const Header header = codec.read_header(file);
    return std::vector<std::size_t>{header.min_decode_bytes, header.max_decode_bytes,
                                    header.factor_bytes};
  };
  constexpr std::size_t kPixels = 20 * 30;
  const auto twice = [](std::size_t bytes, std::size_t factors = 0) {
    return std::vector<std::size_t>{bytes, bytes, factors};
  };
  const Image gray = noise_image({20, 30, 1, Depth::u8}), rgb = noise_image({20, 30, 3, Depth::u8}),
              wide = noise_image({20, 30, 3, Depth::u16}),
              alpha = noise_image({20, 30, 1, Depth::u8});
  EXPECT_EQ(bytes_of(ImageFormat::pnm, codec_for(OutputFormat::pnm).encode(wide, {})),
            twice(6 * kPixels));
  EXPECT_EQ(bytes_of(ImageFormat::bmp,
                     test::BmpMaker(30, 20, 24).pixels(std::string(20 * 92, 'x')).file()),
            twice(3 * kPixels));
  EXPECT_EQ(bytes_of(ImageFormat::bmp, test::BmpMaker(30, 20, 32)
                                           .masks({0xFF, 0xFF00, 0xFF0000, 0xFF000000})
                                           .pixels(std::string(20 * 120, 'x'))
                                           .file()),
            twice(4 * kPixels));
  const Codec& webp = codec_for(OutputFormat::webp);
  EXPECT_EQ(bytes_of(ImageFormat::webp, webp.encode(rgb, {})), twice(7 * kPixels));
  EXPECT_EQ(bytes_of(ImageFormat::webp, webp.encode(PictureView(rgb, alpha, {}), {})),
            twice(16 * kPixels));
  EXPECT_EQ(bytes_of(ImageFormat::npz, test::factors_file({20, 30, 1, Depth::u16}, 2)),
            twice(2 * kPixels + 2 * (4 * 50 + 8), 2 * (4 * 50 + 8)));

  test::TiffMaker tiff(30, 20, 8, 4, 2);
  tiff.set(test::TiffMaker::kExtraSamples, {2}).pixels(std::string(4 * kPixels, 'x'));
  constexpr std::size_t kRow = 4 * 30, kTable = 24;
  EXPECT_EQ(bytes_of(ImageFormat::tiff, tiff.file()), twice(4 * kPixels + kRow + kTable));
  tiff.set(test::TiffMaker::kOrientation, {3});
  EXPECT_EQ(bytes_of(ImageFormat::tiff, tiff.file()), twice(7 * kPixels + kRow + kTable))
      << "and a copy of the pixels";

  const Bytes jpeg = test::make_jpeg(rgb, {});
  EXPECT_EQ(bytes_of(ImageFormat::jpeg, jpeg), twice(3 * kPixels));
  EXPECT_EQ(bytes_of(ImageFormat::jpeg, jpeg, Decoder::opencv),
            twice(2 * jpeg.size() + 6 * kPixels));
  const std::string orientation(
      "\xFF\xE1\0\x22"
      "Exif\0\0MM\0\x2A\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1"
      "\0\3\0\0\0\0\0\0",
      36);
  EXPECT_EQ(bytes_of(ImageFormat::jpeg, test::with_inserted(jpeg, 2, orientation)),
            twice(6 * kPixels))
      << "turned";

  // Rows with a filter byte each, and the stream, if it is in several chunks.
  const Bytes png = codec_for(OutputFormat::png).encode(gray, {});
  EXPECT_EQ(bytes_of(ImageFormat::png, png),
            (std::vector<std::size_t>{kPixels, 20 * 31 + png.size(), 0}));
  EXPECT_EQ(bytes_of(ImageFormat::png, png, Decoder::opencv), twice(png.size() + 2 * kPixels));
  const Bytes png_alpha = codec_for(OutputFormat::png).encode(PictureView(rgb, alpha, {}), {});
  EXPECT_EQ(bytes_of(ImageFormat::png, png_alpha, Decoder::opencv),
            twice(png_alpha.size() + 8 * kPixels));
}

}  // namespace
}  // namespace eckart::codec
