#include "codec/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

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

TEST(Codec, has_the_usual_extension_and_the_limits_of_its_format) {
  struct Case {
    ImageFormat format;
    std::string_view extension;
    bool is_encoded_on_a_gpu = false, has_density = false, has_png_color = false;
  };
  for (const Case& expected :
       {Case{ImageFormat::png, "png", true, true, true},
        Case{ImageFormat::jpeg, "jpg", true, true, false},
        Case{ImageFormat::tiff, "tif", false, true, false},
        Case{ImageFormat::webp, "webp", false, true, false},
        Case{ImageFormat::pnm, "pnm", false, false, false}, Case{ImageFormat::bmp, "bmp"},
        Case{ImageFormat::dicom, "dcm"}, Case{ImageFormat::npz, "npz"}}) {
    const Codec& codec = codec_for(expected.format);
    EXPECT_EQ(codec.extension, expected.extension);
    EXPECT_EQ(codec.read_undecoded != nullptr, expected.is_encoded_on_a_gpu) << expected.extension;
    EXPECT_EQ(codec.encode_head_and_tail != nullptr, expected.is_encoded_on_a_gpu)
        << expected.extension;
    if (codec.encode == nullptr) continue;
    EXPECT_EQ(codec.metadata_limits.has_density, expected.has_density) << expected.extension;
    EXPECT_EQ(codec.metadata_limits.has_png_color, expected.has_png_color) << expected.extension;
  }
  for (const Codec& codec : codecs(Decoder::opencv))
    EXPECT_EQ(codec.read_undecoded, nullptr) << codec.extension;
}

TEST(Codec, has_a_format_for_each_extension) {
  for (const auto& [name, format] : {std::pair{"a.png", ImageFormat::png},
                                     {"a.JPG", ImageFormat::jpeg},
                                     {"a.jpeg", ImageFormat::jpeg},
                                     {"a.jpe", ImageFormat::jpeg},
                                     {"a.jfif", ImageFormat::jpeg},
                                     {"a.tif", ImageFormat::tiff},
                                     {"a.tiff", ImageFormat::tiff},
                                     {"a.webp", ImageFormat::webp},
                                     {"a.pbm", ImageFormat::pnm},
                                     {"a.pgm", ImageFormat::pnm},
                                     {"a.ppm", ImageFormat::pnm},
                                     {"a.pnm", ImageFormat::pnm},
                                     {"a.bmp", ImageFormat::bmp},
                                     {"a.dcm", ImageFormat::dicom},
                                     {"a.npz", ImageFormat::npz},
                                     {".png", ImageFormat::png}})
    EXPECT_EQ(format_of_file_name(name), format) << name;
  for (const char* name : {"", "png", "a.", "a.txt", "a.png.txt"})
    EXPECT_EQ(format_of_file_name(name), std::nullopt) << name;
  EXPECT_EQ(image_extensions(),
            ".png, .jpg, .jpeg, .jpe, .jfif, .tif, .tiff, .webp, .pbm, .pgm, .ppm, .pnm, .bmp, "
            ".dcm, .npz");
}

TEST(CodecLibrary, is_named_with_its_version) {
  EXPECT_THAT(codec_libraries(),
              testing::MatchesRegex("libdeflate [0-9.]+, libspng [0-9.]+, libjpeg-turbo, libtiff "
                                    "[0-9.]+, libwebp [0-9]+[.][0-9]+[.][0-9]+(, dcmtk "
                                    "[0-9.]+)?, OpenCV [0-9].*"));
}

}  // namespace
}  // namespace eckart::codec
