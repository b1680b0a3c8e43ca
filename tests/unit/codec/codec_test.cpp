#include "codec/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>

#include "tests/unit/codec/bmp_maker.hpp"
#include "tests/unit/codec/dicom_maker.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using test::Bytes;
using test::failure_of;
using testing::HasSubstr;

std::span<const std::byte> bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(Codec, is_defined_for_each_format) {
  EXPECT_EQ(codec_for(ImageFormat::png).extension, "png");
  EXPECT_EQ(codec_for(ImageFormat::jpeg).extension, "jpg");
  EXPECT_EQ(codecs().size(), enum_values<ImageFormat>().size());
  for (const OutputFormat format : file_formats()) {
    EXPECT_NE(codec_for(format).encode, nullptr) << to_string(format);
    EXPECT_EQ(to_string(codec_for(format).format), to_string(format));
  }
  for (const ImageFormat format : {ImageFormat::bmp, ImageFormat::dicom, ImageFormat::npz})
    EXPECT_EQ(codec_for(format).encode, nullptr);
}

TEST(Codec, is_detected_by_the_first_bytes_alone) {
  EXPECT_EQ(failure_of([] { detect_codec(Bytes()); }).reason, FailureReason::empty_file);
  for (const char* text : {"hello", "\x89PN", "\xFF\xD8", "P5", "BM", "II*", "RIFF", "<html>"}) {
    EXPECT_EQ(failure_of([&] { detect_codec(bytes(text)); }).reason, FailureReason::not_an_image)
        << text;
  }
}

TEST(Codec, names_a_format_that_is_not_read) {
  const auto expect_named = [](std::string_view name, std::string_view file) {
    const test::CaughtError failure = failure_of([&] { detect_codec(bytes(file)); });
    EXPECT_EQ(failure.reason, FailureReason::unsupported) << name;
    EXPECT_THAT(failure.detail, testing::StartsWith(std::string(name)));
  };
  using namespace std::string_view_literals;
  expect_named("HEIC",
               "\0\0\0\x18"
               "ftypheic\0\0\0\0"sv);
  expect_named("HEIF",
               "\0\0\0\x18"
               "ftypmif1\0\0\0\0"sv);
  expect_named("AVIF",
               "\0\0\0\x1C"
               "ftypavif\0\0\0\0"sv);
  expect_named("JPEG XL", "\xFF\x0A\xFA\x7F"sv);
  expect_named("JPEG XL", "\0\0\0\x0CJXL \r\n\x87\n"sv);
  expect_named("JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv);
  expect_named("GIF", "GIF89a"sv);
  expect_named("Photoshop", "8BPS\0\1"sv);
  expect_named("CR2", "II*\0\x10\0\0\0CR\2\0"sv);
  expect_named("PDF", "%PDF-1.7\n"sv);
  expect_named("SVG", "<?xml version=\"1.0\"?>\n<!-- a picture -->\n<svg xmlns=\"a\">"sv);
}

/// An image of 20 rows and 30 columns.
Bytes file_of(const Codec& codec) {
  if (codec.format == ImageFormat::bmp)
    return test::BmpMaker(30, 20, 24).pixels(std::string(20 * 92, 'x')).file();
  if (codec.format == ImageFormat::npz) return test::factors_file({20, 30, 1, Depth::u8}, 2);
  if (codec.format == ImageFormat::dicom)
    return test::DicomMaker(8)
        .number(test::DicomMaker::kRows, 20)
        .number(test::DicomMaker::kCols, 30)
        .pixels(std::string(600, 'x'))
        .file();
  return codec.encode(test::noise_image({20, 30, 1, Depth::u8}), {});
}

TEST(Codec, names_key_and_value_of_an_exceeded_limit) {
  for (const Codec& codec : codecs()) {
    const Bytes file = file_of(codec);
    EXPECT_NO_THROW(admit(codec, file, {.pixels = 600, .side = 30, .file_mb = 1}));

    test::CaughtError failure = failure_of([&] { admit(codec, file, {.pixels = 599}); });
    EXPECT_EQ(failure.reason, FailureReason::too_large);
    EXPECT_THAT(failure.detail, HasSubstr("limits.pixels = 599"));

    failure = failure_of([&] { admit(codec, file, {.side = 29}); });
    EXPECT_EQ(failure.reason, FailureReason::too_large);
    EXPECT_THAT(failure.detail, HasSubstr("limits.side = 29"));

    failure = failure_of([&] { admit(codec, file, {.file_mb = 0}); });
    EXPECT_EQ(failure.reason, FailureReason::too_large);
    EXPECT_THAT(failure.detail, HasSubstr("limits.file_mb = 0"));
  }
}

TEST(Codec, recognizes_image_file_names) {
  for (const char* name :
       {"a.png",    "a.PNG",    "a.jpg",  "a.Jpeg", "a.jpe",  "a.jfif", "a.b.png",
        "\xFF.png", "a\nb.jpg", "a .png", "a.tif",  "a.TIFF", "a.webp", "a.pbm",
        "a.pgm",    "a.ppm",    "a.pnm",  "a.bmp",  "a.dcm",  "a.npz"}) {
    EXPECT_TRUE(is_image_file_name(name)) << name;
  }
  for (const char* name : {"", "png", "a", "a.", "a.txt", "a.png~", "a.png.tmp", "a.png.part",
                           ".a.png", ".png", "a.png.crdownload", ".nfs0001", "a.heic", "a.png "}) {
    EXPECT_FALSE(is_image_file_name(name)) << name;
  }
}

}  // namespace
}  // namespace eckart::codec
