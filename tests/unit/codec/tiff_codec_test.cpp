#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "codec/tiff_reader.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/open_image.hpp"
#include "tests/unit/codec/test_images.hpp"
#include "tests/unit/codec/tiff_maker.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::samples;
using test::TiffMaker;
using testing::ElementsAre;
using testing::HasSubstr;

const Codec& tiff() { return codec_for(ImageFormat::tiff); }

Picture open_tiff(const Bytes& file) { return test::open_image(ImageFormat::tiff, file); }

test::CaughtError tiff_failure(const Bytes& file) {
  return failure_of([&] { open_tiff(file); });
}

std::string unsupported_tiff(const Bytes& file) {
  const test::CaughtError error = failure_of([&] { tiff().read_header(file); });
  EXPECT_EQ(error.reason, FailureReason::unsupported) << error.detail;
  return error.detail;
}

TEST(Tiff, reads_gray_of_all_depths) {
  EXPECT_THAT(samples(open_tiff(TiffMaker(4, 1, 1, 1, 1).pixels("\xA0"sv).file()).pixels),
              ElementsAre(255, 0, 255, 0));
  EXPECT_THAT(samples(open_tiff(TiffMaker(4, 1, 2, 1, 1).pixels("\x1B"sv).file()).pixels),
              ElementsAre(0, 85, 170, 255));
  EXPECT_THAT(samples(open_tiff(TiffMaker(3, 1, 4, 1, 1).pixels("\x0F\x70"sv).file()).pixels),
              ElementsAre(0, 255, 0x77));
  EXPECT_THAT(samples(open_tiff(TiffMaker(1, 2, 8, 1, 1).pixels("\x01\xFE"sv).file()).pixels),
              ElementsAre(1, 254));
  const Image wide =
      open_tiff(TiffMaker(2, 1, 16, 1, 1).pixels("\x34\x12\xFF\xFF"sv).file()).pixels;
  EXPECT_EQ(wide.shape(), (ImageShape{1, 2, 1, Depth::u16}));
  EXPECT_THAT(samples(wide), ElementsAre(0x1234, 0xFFFF));
}

/// The pixels are in front of the directory, as libtiff writes them.
TEST(Tiff, is_no_camera_raw_file_if_its_pixels_are_the_letters_of_one) {
  Bytes file = TiffMaker(2, 1, 8, 1, 1).pixels("..").file();
  const std::size_t strip_offset = 8 + 2 + 12 * 5 + 8;  // behind five entries
  file.insert(file.begin() + 8, {std::byte('C'), std::byte('R')});
  file[4] = std::byte(10);
  file[strip_offset + 2] = std::byte(8);
  EXPECT_THAT(samples(open_tiff(file).pixels), ElementsAre('C', 'R'));
}

TEST(Tiff, inverts_gray_of_which_0_is_white) {
  EXPECT_THAT(samples(open_tiff(TiffMaker(2, 1, 8, 1, 0).pixels("\x01\xFF"sv).file()).pixels),
              ElementsAre(254, 0));
  EXPECT_THAT(samples(open_tiff(TiffMaker(2, 1, 1, 1, 0).pixels("\x40"sv).file()).pixels),
              ElementsAre(255, 0));
  const Picture with_alpha = open_tiff(TiffMaker(2, 1, 8, 2, 0)
                                           .set(TiffMaker::kExtraSamples, {2})
                                           .pixels("\x01\x02\xFF\xFF"sv)
                                           .file());
  EXPECT_THAT(samples(with_alpha.pixels), ElementsAre(254, 0));
  EXPECT_THAT(samples(with_alpha.alpha), ElementsAre(2, 255));
}

TEST(Tiff, converts_a_palette_to_rgb) {
  const std::vector<int> narrow{10, 20, 30, 40, 50, 60};  // red, green and blue of two colors
  std::vector<int> wide;
  for (const int value : narrow) wide.push_back(value << 8);
  for (const std::vector<int>& palette : {narrow, wide}) {
    const Image image =
        open_tiff(
            TiffMaker(2, 1, 1, 1, 3).set(TiffMaker::kPalette, palette).pixels("\x40"sv).file())
            .pixels;
    EXPECT_THAT(samples(image), ElementsAre(10, 30, 50, 20, 40, 60));
  }
}

TEST(Tiff, converts_a_palette_of_16_bits_without_blue) {
  const std::vector<int> palette{10 << 8, 20 << 8, 30 << 8, 40 << 8, 0, 0};
  const Bytes file =
      TiffMaker(2, 1, 1, 1, 3).set(TiffMaker::kPalette, palette).pixels("\x40"sv).file();
  EXPECT_THAT(samples(open_tiff(file).pixels), ElementsAre(10, 30, 0, 20, 40, 0));
}

TEST(Tiff, reads_planes_that_are_stored_separately) {
  const Picture picture = open_tiff(TiffMaker(2, 1, 8, 4, 2)
                                        .set(TiffMaker::kExtraSamples, {2})
                                        .planes(4)
                                        .pixels("abcdefgh"sv)
                                        .file());
  EXPECT_THAT(samples(picture.pixels), ElementsAre('a', 'c', 'e', 'b', 'd', 'f'));
  EXPECT_THAT(samples(picture.alpha), ElementsAre('g', 'h'));
  EXPECT_THAT(samples(open_tiff(TiffMaker(2, 1, 8, 3, 2).pixels("abcdef"sv).file()).pixels),
              ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
}

TEST(Tiff, reads_alpha_beside_gray_and_rgb) {
  const auto with_alpha = [](TiffMaker maker, int kind, std::string_view pixels) {
    return open_tiff(maker.set(TiffMaker::kExtraSamples, {kind}).pixels(pixels).file());
  };
  const Picture gray = with_alpha({1, 1, 8, 2, 1}, 2, "\x0A\x80"sv);
  EXPECT_THAT(samples(gray.pixels), ElementsAre(10));
  EXPECT_THAT(samples(gray.alpha), ElementsAre(128));
  const Picture rgb = with_alpha({1, 1, 16, 4, 2}, 2, "\1\0\2\0\3\0\4\0"sv);
  EXPECT_THAT(samples(rgb.pixels), ElementsAre(1, 2, 3));
  EXPECT_THAT(samples(rgb.alpha), ElementsAre(4));
}

TEST(Tiff, divides_colors_that_are_multiplied_by_alpha) {
  const Picture picture = open_tiff(TiffMaker(2, 1, 8, 4, 2)
                                        .set(TiffMaker::kExtraSamples, {1})
                                        .pixels("\x40\x20\x00\x80\x00\x00\x00\x00"sv)
                                        .file());
  EXPECT_THAT(samples(picture.pixels), ElementsAre(128, 64, 0, 0, 0, 0));
  EXPECT_THAT(samples(picture.alpha), ElementsAre(128, 0));
}

TEST(Tiff, reads_tiles_that_extend_beyond_the_image) {
  std::string tile;
  for (int i = 0; i < 256; ++i) tile += char(i);
  const Image image = open_tiff(TiffMaker(3, 2, 8, 1, 1)
                                    .set(TiffMaker::kTileCols, {16})
                                    .set(TiffMaker::kTileRows, {16})
                                    .pixels(tile)
                                    .file())
                          .pixels;
  EXPECT_THAT(samples(image), ElementsAre(0, 1, 2, 16, 17, 18));
}

TEST(Tiff, applies_its_orientation_to_pixels_and_alpha) {
  const Picture picture = open_tiff(TiffMaker(2, 1, 8, 2, 1)
                                        .set(TiffMaker::kExtraSamples, {2})
                                        .set(TiffMaker::kOrientation, {6})
                                        .pixels("\1\2\3\4"sv)
                                        .file());
  EXPECT_EQ(picture.pixels.shape(), (ImageShape{2, 1, 1, Depth::u8}));
  EXPECT_THAT(samples(picture.pixels), ElementsAre(1, 3));
  EXPECT_THAT(samples(picture.alpha), ElementsAre(2, 4));
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

Bytes float_tiff(int cols, int rows, int samples, const std::vector<float>& values) {
  TiffMaker maker(cols, rows, 32, samples, samples < 3 ? 1 : 2);
  maker.set(TiffMaker::kSampleFormat, std::vector<int>(std::size_t(samples), 3));
  return maker.pixels(bytes_of(values)).file();
}

TEST(Tiff, reads_floats_as_they_are) {
  const std::vector<float> values{-1e-30F, 3e29F, 0.1F, -0.0F, 65536.5F, -2};
  const Image gray = open_tiff(float_tiff(3, 2, 1, values)).pixels;
  EXPECT_EQ(gray.shape(), (ImageShape{2, 3, 1, Depth::f32}));
  EXPECT_EQ(test::float_samples(gray), values);
  const Image rgb = open_tiff(float_tiff(2, 1, 3, values)).pixels;
  EXPECT_EQ(rgb.shape(), (ImageShape{1, 2, 3, Depth::f32}));
  EXPECT_EQ(test::float_samples(rgb), values);
}

TEST(Tiff, reads_alpha_of_floats) {
  const auto open = [](int kind) {
    return open_tiff(TiffMaker(2, 1, 32, 2, 1)
                         .set(TiffMaker::kSampleFormat, {3, 3})
                         .set(TiffMaker::kExtraSamples, {kind})
                         .pixels(bytes_of({3, 0.5F, 7, 0}))
                         .file());
  };
  EXPECT_THAT(test::float_samples(open(2).pixels), ElementsAre(3, 7));
  EXPECT_THAT(test::float_samples(open(2).alpha), ElementsAre(0.5F, 0));
  EXPECT_THAT(test::float_samples(open(1).pixels), ElementsAre(6, 0)) << "multiplied by alpha";
}

TEST(Tiff, refuses_floats_that_are_not_finite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto refusal = [](const Bytes& file) {
    const test::CaughtError error = tiff_failure(file);
    EXPECT_EQ(error.reason, FailureReason::unsupported);
    return error.detail;
  };
  EXPECT_EQ(refusal(float_tiff(3, 2, 1, {1, 2, 3, 4, 5, kNan})),
            "has a sample that is not a number at row 1, column 2 (counted from 0); replace it "
            "first");
  EXPECT_THAT(refusal(float_tiff(2, 1, 3, {1, 2, 3, 4, -kInfinity, kNan})),
              HasSubstr("a sample that is infinite at row 0, column 1, channel 1"));
  EXPECT_THAT(refusal(float_tiff(2, 1, 1, {1, std::numeric_limits<float>::lowest()})),
              HasSubstr("above 1e30, as they stand for missing data, at row 0, column 1"));
}

/// Readers without imagecodecs do not know the predictor of floats.
TEST(Tiff, is_written_with_a_predictor_of_integers_only) {
  constexpr std::uint32_t kPredictor = 317;
  for (const auto& [depth, expected] :
       {std::pair{Depth::u8, 2U}, {Depth::u16, 2U}, {Depth::f32, 1U}}) {
    const Bytes file = tiff().encode(Image({4, 4, 1, depth}), {});
    const TiffReader reader(file);
    const auto entry = reader.find(reader.first_directory(), kPredictor);
    EXPECT_EQ(entry ? reader.integer(*entry) : 1, expected);
  }
}

TEST(Tiff, names_what_is_not_supported) {
  const auto pixel = [](int bits, int count, int photometric) {
    return TiffMaker(1, 1, bits, count, photometric).pixels("12345678901234567890"sv);
  };
  EXPECT_THAT(unsupported_tiff(pixel(8, 4, 5).file()), HasSubstr("CMYK"));
  EXPECT_THAT(unsupported_tiff(pixel(8, 3, 8).file()), HasSubstr("Lab"));
  EXPECT_THAT(unsupported_tiff(pixel(8, 3, 6).file()), HasSubstr("YCbCr"));
  EXPECT_THAT(unsupported_tiff(pixel(12, 1, 1).file()), HasSubstr("12 bits"));
  EXPECT_THAT(unsupported_tiff(pixel(64, 1, 1).set(TiffMaker::kSampleFormat, {3}).file()),
              HasSubstr("64-bit floating point samples; convert it to 32 bits first"));
  EXPECT_THAT(unsupported_tiff(pixel(16, 1, 1).set(TiffMaker::kSampleFormat, {3}).file()),
              HasSubstr("16-bit floating point"));
  EXPECT_THAT(unsupported_tiff(pixel(32, 1, 0).set(TiffMaker::kSampleFormat, {3}).file()),
              HasSubstr("floating point samples of which 0 is white"));
  EXPECT_THAT(unsupported_tiff(pixel(16, 1, 1).set(TiffMaker::kSampleFormat, {2}).file()),
              HasSubstr("16-bit signed"));
  EXPECT_THAT(unsupported_tiff(pixel(8, 1, 1).set(TiffMaker::kCompression, {34712}).file()),
              HasSubstr("compression 34712"));
  EXPECT_THAT(unsupported_tiff(pixel(8, 5, 2).set(TiffMaker::kExtraSamples, {0, 0}).file()),
              HasSubstr("5 samples per pixel"));
  EXPECT_THAT(unsupported_tiff(pixel(8, 1, 1).set(TiffMaker::kDngVersion, {1, 4, 0, 0}).file()),
              HasSubstr("DNG"));
  EXPECT_THAT(unsupported_tiff(pixel(8, 1, 1).set(TiffMaker::kSubfileType, {1}).file()),
              HasSubstr("preview"));
}

/// More directories after the first, of which the pixels are those of the first.
Bytes with_pages(int pages, int subfile_type) {
  TiffMaker maker(1, 1, 8, 1, 1);
  Bytes file = maker.set(TiffMaker::kSubfileType, {0}).pixels("x").file();
  const Bytes next = maker.set(TiffMaker::kSubfileType, {subfile_type}).file();
  const std::size_t entries = std::size_t(file[8]);
  std::size_t directory = 8;
  for (int page = 1; page < pages; ++page) {
    const std::size_t link = directory + 2 + 12 * entries;
    directory = file.size();
    for (int i = 0; i < 4; ++i) file[link + std::size_t(i)] = std::byte(directory >> (8 * i));
    file.insert(file.end(), next.begin() + 8, next.end());
  }
  return file;
}

TEST(Tiff, refuses_several_pages_with_their_number) {
  EXPECT_THAT(unsupported_tiff(with_pages(2, 0)), HasSubstr("has 2 pages"));
  EXPECT_THAT(unsupported_tiff(with_pages(999, 0)), HasSubstr("has 999 pages"));
  EXPECT_THAT(unsupported_tiff(with_pages(1001, 0)), HasSubstr("has at least 1000 pages"));
  EXPECT_THAT(samples(open_tiff(with_pages(2, 1)).pixels), ElementsAre('x')) << "a preview";
  EXPECT_THAT(samples(open_tiff(with_pages(2, 4)).pixels), ElementsAre('x')) << "a mask";
}

TEST(Tiff, does_not_follow_a_loop_of_directories) {
  const Bytes file = TiffMaker(1, 1, 8, 1, 1).pixels("x").loop().file();
  const FailureReason reason = tiff_failure(file).reason;
  EXPECT_TRUE(reason == FailureReason::none || reason == FailureReason::corrupt ||
              reason == FailureReason::unsupported);
}

TEST(Tiff, tells_what_libtiff_says_of_a_damaged_file) {
  EXPECT_EQ(tiff_failure(test::to_bytes("II*\0\x40\0\0\0"sv)).detail,
            "cannot be decoded by libtiff: Can not read TIFF directory count");
}

TEST(Tiff, refuses_pixels_that_are_incomplete) {
  const Bytes whole = TiffMaker(5, 4, 8, 3, 2).pixels(std::string(60, 'p')).file();
  EXPECT_EQ(tiff_failure(whole).reason, FailureReason::none);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    const test::CaughtError error = tiff_failure(part);
    EXPECT_TRUE(error.reason == FailureReason::corrupt ||
                (size < 8 && error.reason == FailureReason::not_an_image))
        << size << ": " << error.detail;
  }
}

TEST(Tiff, counts_a_large_tile_as_decode_memory) {
  const Bytes file = TiffMaker(1, 1, 8, 1, 1)
                         .set(TiffMaker::kTileCols, {65536})
                         .set(TiffMaker::kTileRows, {65536})
                         .pixels("x")
                         .file();
  const test::CaughtError error = failure_of([&] { admit(tiff(), file, {}); });
  EXPECT_EQ(error.reason, FailureReason::too_large);
  EXPECT_THAT(error.detail, HasSubstr("limits.decode_mb"));
}

TEST(Tiff, counts_the_table_of_tiles_as_decode_memory) {
  const Bytes file = TiffMaker(4096, 4096, 8, 1, 1)
                         .set(TiffMaker::kTileCols, {1})
                         .set(TiffMaker::kTileRows, {1})
                         .pixels("x")
                         .file();
  const test::CaughtError error = failure_of([&] { admit(tiff(), file, {.decode_mb = 300}); });
  EXPECT_EQ(error.reason, FailureReason::too_large);
  EXPECT_THAT(error.detail, HasSubstr("limits.decode_mb"));
}

TEST(Tiff, checks_the_decode_time) {
  const Bytes file = tiff().encode(Image({64, 64, 1, Depth::u8}), {});
  EXPECT_EQ(failure_of([&] { tiff().decode(file, {.decode_s = 0}); }).reason,
            FailureReason::too_large);
}

TEST(Tiff, keeps_profile_and_xmp) {
  const Image image = test::noise_image({3, 4, 3, Depth::u8});
  Metadata metadata;
  metadata.icc = test::make_icc();
  metadata.xmp = Bytes(20, std::byte('x'));
  const Picture picture = open_tiff(tiff().encode(PictureView(image, Image(), metadata), {}));
  EXPECT_EQ(picture.metadata.icc, metadata.icc);
  EXPECT_EQ(picture.metadata.xmp, metadata.xmp);
}

}  // namespace
}  // namespace eckart::codec
