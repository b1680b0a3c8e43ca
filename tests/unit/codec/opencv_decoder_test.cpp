// Inputs decoded by cv::imdecode: the same pixels as from the strict decoders where a file is
// whole, damage that OpenCV accepts, and the limits that hold all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::gradient_image;
using test::JpegOptions;
using test::make_jpeg;
using test::noise_image;
using test::PngMaker;
using testing::HasSubstr;

Image decode(const Bytes& file, Decoder decoder, const ImageLimits& limits = {}) {
  const Codec& codec = detect_codec(file, decoder);
  admit(codec, file, limits);
  return codec.decode(file, limits).pixels;
}

Image by_opencv(const Bytes& file, const ImageLimits& limits = {}) {
  return decode(file, Decoder::opencv, limits);
}

FailureReason strict_failure(const Bytes& file) {
  return failure_of([&] { decode(file, Decoder::strict); }).reason;
}

test::CaughtError opencv_failure(const Bytes& file, const ImageLimits& limits = {}) {
  return failure_of([&] { by_opencv(file, limits); });
}

constexpr auto kRotated = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0"sv;  // EXIF

Bytes half(const Bytes& file) {
  return {file.begin(), file.begin() + std::ptrdiff_t(file.size() / 2)};
}

class OpencvDecoderTest : public testing::TestWithParam<ImageShape> {};
class OpencvDecoderOfJpegTest : public OpencvDecoderTest {};  // which has 8 bits

TEST_P(OpencvDecoderTest, reproduces_the_pixels_of_a_png_exactly) {
  const Image image = noise_image(GetParam());
  const Bytes file = codec_for(ImageFormat::png).encode(image, {});
  EXPECT_TRUE(test::same(by_opencv(file), image));
}

/// The decoders may have different versions of libjpeg, whose inverse DCTs differ by rounding.
TEST_P(OpencvDecoderOfJpegTest, reproduces_the_pixels_except_for_rounding) {
  for (const JpegOptions kind :
       {JpegOptions{}, JpegOptions{.progressive = true}, JpegOptions{.interleaved = false},
        JpegOptions{.chroma_cols = 2, .chroma_rows = 2}, JpegOptions{.restart_interval = 3},
        JpegOptions{.arithmetic = true}}) {
    const Bytes file = make_jpeg(gradient_image(GetParam()), kind);
    const Image strict = decode(file, Decoder::strict), opencv = by_opencv(file);
    ASSERT_EQ(opencv.shape(), strict.shape());
    EXPECT_LE(test::largest_difference(opencv, strict), 2);
  }
}

const auto kShapesOf8Bits =
    testing::Values(ImageShape{1, 1, 1, Depth::u8}, ImageShape{37, 61, 1, Depth::u8},
                    ImageShape{61, 37, 3, Depth::u8}, ImageShape{1, 30000, 3, Depth::u8});
INSTANTIATE_TEST_SUITE_P(Shapes, OpencvDecoderTest, kShapesOf8Bits);
INSTANTIATE_TEST_SUITE_P(ShapesOf16Bits, OpencvDecoderTest,
                         testing::Values(ImageShape{37, 61, 1, Depth::u16},
                                         ImageShape{61, 37, 3, Depth::u16},
                                         ImageShape{30000, 1, 1, Depth::u16}));
INSTANTIATE_TEST_SUITE_P(Shapes, OpencvDecoderOfJpegTest, kShapesOf8Bits);

TEST(OpencvPng, converts_every_color_type_like_the_strict_decoder) {
  const auto palette = "\x01\x02\x03\x0a\x0b\x0c"sv;
  const std::vector<Bytes> files{
      PngMaker(2, 1, 1, 0).pixels("\0\x40"sv).end(),
      PngMaker(2, 1, 2, 0).pixels("\0\x60"sv).end(),
      PngMaker(1, 1, 4, 0).pixels("\0\x70"sv).end(),
      PngMaker(1, 1, 16, 0, 1).pixels("\0\x12\x34"sv).end(),
      PngMaker(1, 1, 8, 2).pixels("\0\x0a\x14\x1e"sv).end(),
      PngMaker(2, 1, 1, 3).chunk("PLTE", palette).pixels("\0\x40"sv).end(),
      PngMaker(2, 1, 1, 3).chunk("PLTE", palette).chunk("tRNS", "\xFF").pixels("\0\x40"sv).end(),
      PngMaker(1, 1, 8, 2).chunk("PLTE", "").pixels("\0\x0a\x14\x1e"sv).end(),
      PngMaker(1, 1, 8, 4).pixels("\0\x01\xFF"sv).end(),
      PngMaker(1, 1, 16, 4).pixels("\0\x01\x02\xFF\xFF"sv).end(),
      PngMaker(1, 1, 8, 6).pixels("\0\x01\x02\x03\xFF"sv).end(),
      PngMaker(1, 1, 16, 6).pixels("\0\1\2\3\4\5\6\xFF\xFF"sv).end(),
      PngMaker(1, 1, 8, 0).chunk("tRNS", "\0\2"sv).pixels("\0\1"sv).end(),
      PngMaker(1, 1, 8, 2).chunk("tRNS", "\0\1\0\2\0\4"sv).pixels("\0\1\2\3"sv).end()};
  for (std::size_t i = 0; i < files.size(); ++i)
    EXPECT_TRUE(test::same(by_opencv(files[i]), decode(files[i], Decoder::strict))) << i;
}

TEST(OpencvPng, reads_the_same_alpha) {
  const std::vector<Bytes> files{
      PngMaker(1, 1, 8, 4).pixels("\0\x01\xFE"sv).end(),
      PngMaker(1, 1, 16, 4).pixels("\0\x01\x02\xFF\xFE"sv).end(),
      PngMaker(1, 1, 8, 6).pixels("\0\x01\x02\x03\0"sv).end(),
      PngMaker(1, 1, 16, 6).pixels("\0\1\2\3\4\5\6\xFE\xFF"sv).end(),
      PngMaker(1, 1, 8, 3).chunk("PLTE", "\1\2\3").chunk("tRNS", "\x80").pixels("\0\0"sv).end(),
      PngMaker(1, 1, 8, 0).chunk("tRNS", "\0\1"sv).pixels("\0\1"sv).end(),
      PngMaker(1, 1, 16, 0).chunk("tRNS", "\1\2"sv).pixels("\0\1\2"sv).end(),
      PngMaker(1, 1, 8, 2).chunk("tRNS", "\0\1\0\2\0\3"sv).pixels("\0\1\2\3"sv).end()};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto alpha = [&](Decoder decoder) {
      return detect_codec(files[i], decoder).decode(files[i], {}).alpha;
    };
    ASSERT_FALSE(alpha(Decoder::strict).empty()) << i;
    EXPECT_TRUE(test::same(alpha(Decoder::opencv), alpha(Decoder::strict))) << i;
  }
}

TEST(OpencvDecoder, applies_exif_orientation_once) {
  const Bytes png = PngMaker(2, 1, 8, 0).chunk("eXIf", kRotated).pixels("\0\1\2"sv).end();
  EXPECT_TRUE(test::same(by_opencv(png), decode(png, Decoder::strict)));
  EXPECT_EQ(by_opencv(png).shape().rows, 2);
  const Bytes jpeg = test::with_inserted(make_jpeg(gradient_image({8, 24, 3, Depth::u8}), {}), 2,
                                         "\xFF\xE1\0\x22"
                                         "Exif\0\0"s +
                                             std::string(kRotated));
  EXPECT_LE(test::largest_difference(by_opencv(jpeg), decode(jpeg, Decoder::strict)), 2);
  EXPECT_EQ(by_opencv(jpeg).shape().rows, 24);
}

TEST(OpencvJpeg, accepts_a_truncated_file_with_the_same_pixels_every_time) {
  const Image image = noise_image({200, 300, 3, Depth::u8});
  for (const JpegOptions kind : {JpegOptions{}, JpegOptions{.progressive = true}}) {
    const Bytes file = half(make_jpeg(image, kind));
    EXPECT_EQ(strict_failure(file), FailureReason::corrupt);
    const Image first = by_opencv(file);
    EXPECT_EQ(first.shape(), image.shape());
    EXPECT_TRUE(test::same(first, by_opencv(file)));
  }
}

/// Not a repeated row, nor whatever is in memory.
TEST(OpencvJpeg, fills_missing_rows_with_gray) {
  const Bytes file = make_jpeg(noise_image({64, 64, 1, Depth::u8}), {});
  const std::ptrdiff_t scan = test::find_marker(file, 0xDA);
  constexpr std::ptrdiff_t kScanHeader = 10;
  const Image image = by_opencv({file.begin(), file.begin() + scan + kScanHeader});
  for (const int row : {0, 31, 63}) EXPECT_EQ(test::sample(image, row, 40, 0), 128);
}

TEST(OpencvPng, rejects_a_wrong_crc_of_pixels) {
  Bytes file = PngMaker(1, 1, 8, 0).pixels("\0\x12"sv).end();
  constexpr std::size_t kIend = 12;
  file[file.size() - kIend - 1] ^= std::byte(1);
  EXPECT_EQ(strict_failure(file), FailureReason::corrupt);
  EXPECT_EQ(opencv_failure(file).reason, FailureReason::corrupt);
}

TEST(OpencvPng, rejects_a_wrong_crc_of_the_header) {
  Bytes file = PngMaker(1, 1, 8, 0).pixels("\0\x12"sv).end();
  constexpr std::size_t kHeaderEnd = 33;
  file[kHeaderEnd - 1] ^= std::byte(1);
  EXPECT_EQ(strict_failure(file), FailureReason::corrupt);
  EXPECT_EQ(opencv_failure(file).reason, FailureReason::corrupt);
}

/// OpenCV 4.11 would give the canvas of the animation, and libpng inflate the text: it would warn.
TEST(OpencvPng, ignores_animations_and_text) {
  const Bytes file = PngMaker(1, 1, 8, 0)
                         .chunk("acTL", "\0\0\0\2\0\0\0\0"sv)
                         .chunk("zTXt", "a\0\0 not zlib"sv)
                         .pixels("\0\x12"sv)
                         .end();
  testing::internal::CaptureStderr();
  const Image image = by_opencv(file);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(test::sample(image, 0, 0, 0), 0x12);
}

TEST(OpencvPng, rejects_what_opencv_cannot_decode) {
  const Bytes file = PngMaker(300, 200, 8, 2).chunk("IDAT", "not a zlib stream").end();
  const test::CaughtError failure = opencv_failure(file);
  EXPECT_EQ(failure.reason, FailureReason::corrupt);
  EXPECT_THAT(failure.detail, HasSubstr("OpenCV"));
}

TEST(OpencvDecoder, applies_the_limits_of_a_header) {
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg}) {
    const Bytes file = codec_for(format).encode(noise_image({20, 30, 1, Depth::u8}), {});
    EXPECT_NO_THROW(by_opencv(file, {.pixels = 600, .side = 30, .file_mb = 1}));
    for (const ImageLimits& limits :
         {ImageLimits{.pixels = 599}, ImageLimits{.side = 29}, ImageLimits{.file_mb = 0},
          ImageLimits{.decode_mb = 0}, ImageLimits{.decode_s = 0}})
      EXPECT_EQ(opencv_failure(file, limits).reason, FailureReason::too_large);
  }
}

/// Its scans would take 4 s and more; it is refused before.
TEST(OpencvJpeg, rejects_a_file_of_many_scans_before_decoding_it) {
  const Bytes file = make_jpeg(test::black_image({2000, 2000, 1, Depth::u8}),
                               {.progressive = true, .has_refinement_scans = false});
  EXPECT_NO_THROW(by_opencv(file, {.decode_s = 1}));
  const Bytes bomb = test::with_last_scan_repeated(file, 490);
  const test::CaughtError failure = opencv_failure(bomb, {.decode_s = 1});
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("exceeds limits.decode_s = 1"));
}

/// libjpeg passes over a segment whose size is too small for itself.
TEST(OpencvJpeg, counts_scans_behind_a_segment_of_an_invalid_size) {
  const Bytes bomb =
      test::with_last_scan_repeated(make_jpeg(test::black_image({2000, 2000, 1, Depth::u8}),
                                              {.progressive = true, .has_refinement_scans = false}),
                                    490);
  const Bytes file = test::with_inserted(bomb, test::find_marker(bomb, 0xDA, 2), "\xFF\xE5\0\0"sv);
  EXPECT_EQ(opencv_failure(file, {.decode_s = 1}).reason, FailureReason::too_large);
}

}  // namespace
}  // namespace eckart::codec
