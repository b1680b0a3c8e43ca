#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::gradient_image;
using testing::HasSubstr;

const Codec& jpeg() { return codec_for(ImageFormat::jpeg); }

Bytes raw_bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

/// The file with these bytes right after its start-of-image marker.
Bytes with_first_segment(Bytes file, std::string_view segment) {
  const Bytes inserted = raw_bytes(segment);
  file.insert(file.begin() + 2, inserted.begin(), inserted.end());
  return file;
}

/// An EXIF segment that holds the orientation alone.
std::string exif(char orientation) {
  std::string segment(
      "\xFF\xE1\x00\x22"
      "Exif\0\0"
      "MM\0\x2A\0\0\0\x08"
      "\0\x01"
      "\x01\x12\0\x03\0\0\0\x01\0?\0\0"
      "\0\0\0\0"sv);
  segment[29] = orientation;
  return segment;
}

/// Where the file's first segment of this marker begins.
Bytes::iterator find_segment(Bytes& file, int marker) {
  const std::array<std::byte, 2> begin{std::byte(0xFF), std::byte(marker)};
  return std::search(file.begin(), file.end(), begin.begin(), begin.end());
}

Bytes start_with_frame_header(int marker, int bits, int rows, int cols, int components) {
  std::string file("\xFF\xD8\xFF", 3);
  file += {char(marker),    0,          char(8 + 3 * components), char(bits),
           char(rows >> 8), char(rows), char(cols >> 8),          char(cols),
           char(components)};
  for (int i = 0; i < components; ++i) file += {char(i + 1), 0x11, 0};
  return raw_bytes(file);
}

class JpegRoundTripTest : public testing::TestWithParam<int> {};

TEST_P(JpegRoundTripTest, preserves_pixels_closely) {
  const Image image = gradient_image({75, 101, GetParam(), Depth::u8});
  const Bytes file = jpeg().encode(image, {});
  EXPECT_EQ(&detect_codec(file), &jpeg());
  EXPECT_EQ(jpeg().read_header(file).shape, image.shape());
  const Image decoded = jpeg().decode(file, {}).pixels;
  ASSERT_EQ(decoded.shape(), image.shape());
  EXPECT_LE(test::largest_difference(decoded, image), 6);
}

INSTANTIATE_TEST_SUITE_P(Channels, JpegRoundTripTest, testing::Values(1, 3));

TEST(Jpeg, uses_the_quality_option) {
  const Image image = test::noise_image({64, 64, 1, Depth::u8});
  EXPECT_LT(jpeg().encode(image, {30}).size(), jpeg().encode(image, {95}).size());
}

TEST(Jpeg, rejects_16_bits_with_advice) {
  const Image image = gradient_image({8, 8, 1, Depth::u16});
  const test::CaughtError failure = failure_of([&] { jpeg().encode(image, {}); });
  EXPECT_EQ(failure.reason, FailureReason::not_encodable);
  EXPECT_THAT(failure.detail, HasSubstr("output.format=png"));
}

TEST(Jpeg, rejects_sides_over_the_jpeg_limit_with_advice) {
  const Image image = gradient_image({1, 65501, 1, Depth::u8});
  const test::CaughtError failure = failure_of([&] { jpeg().encode(image, {}); });
  EXPECT_EQ(failure.reason, FailureReason::not_encodable);
  EXPECT_THAT(failure.detail, HasSubstr("output.format=png"));
}

/// Where the file's first pixel, and the last of its first row, are to be shown.
struct OrientationCase {
  char orientation;
  bool top, left;      // of the first pixel
  bool row_is_column;  // whether the first row is shown as a column
};

class JpegOrientationTest : public testing::TestWithParam<OrientationCase> {};

TEST_P(JpegOrientationTest, is_applied_as_exif_requires) {
  const OrientationCase& orientation_case = GetParam();
  const ImageShape shape{40, 64, 3, Depth::u8};
  // Brightest at the first pixel, darkest at the last; along a row it falls less than down a
  // column.
  const Bytes file = with_first_segment(jpeg().encode(gradient_image(shape), {}),
                                        exif(orientation_case.orientation));
  EXPECT_EQ(jpeg().read_header(file).shape, shape);
  const Image upright = jpeg().decode(file, {}).pixels;
  const ImageShape turned{64, 40, 3, Depth::u8};
  ASSERT_EQ(upright.shape(), orientation_case.row_is_column ? turned : shape);
  const int bottom = upright.shape().rows - 1, right = upright.shape().cols - 1;
  const int row = orientation_case.top ? 0 : bottom, col = orientation_case.left ? 0 : right;
  const int first = test::sample(upright, row, col, 0);
  const int last = test::sample(upright, bottom - row, right - col, 0);
  const int beside = test::sample(upright, row, right - col, 0);  // the other end of the shown row
  EXPECT_GT(first, 230);
  EXPECT_LT(last, 100);
  EXPECT_NEAR(beside, orientation_case.row_is_column ? 128 : 153, 12);
}

INSTANTIATE_TEST_SUITE_P(
    All, JpegOrientationTest,
    testing::Values(OrientationCase{1, true, true, false}, OrientationCase{2, true, false, false},
                    OrientationCase{3, false, false, false}, OrientationCase{4, false, true, false},
                    OrientationCase{5, true, true, true}, OrientationCase{6, true, false, true},
                    OrientationCase{7, false, false, true}, OrientationCase{8, false, true, true}));

/// A LONG, which cameras and tools write.
TEST(Jpeg, accepts_an_orientation_of_four_bytes) {
  const Image image = gradient_image({40, 64, 1, Depth::u8});
  std::string segment = exif(0);
  segment[23] = 4;
  segment[31] = 6;
  const Image decoded =
      jpeg().decode(with_first_segment(jpeg().encode(image, {}), segment), {}).pixels;
  EXPECT_EQ(decoded.shape(), (ImageShape{64, 40, 1, Depth::u8}));
  for (const int high : {28, 29, 30}) {
    std::string large = segment;
    large[std::size_t(high)] = 1;
    EXPECT_EQ(jpeg().decode(with_first_segment(jpeg().encode(image, {}), large), {}).pixels.shape(),
              image.shape());
  }
}

TEST(Jpeg, ignores_an_invalid_orientation) {
  const Image image = gradient_image({40, 64, 1, Depth::u8});
  for (const char orientation : {0, 9, 100}) {
    const Image decoded =
        jpeg().decode(with_first_segment(jpeg().encode(image, {}), exif(orientation)), {}).pixels;
    EXPECT_LE(test::largest_difference(decoded, image), 6);
  }
  for (const std::string_view segment : {"\xFF\xE1\0\x08"
                                         "Exif\0\0"sv,
                                         "\xFF\xE1\0\x0C"
                                         "Exif\0\0MM\0\x2A"sv,
                                         "\xFF\xE1\0\x10"
                                         "Exif\0\0II\x2A\0\xFF\xFF\xFF\xFF"sv,
                                         "\xFF\xE1\0\x12"
                                         "Exif\0\0MM\0\x2A\0\0\0\x08\xFF\xFF"sv}) {
    EXPECT_NO_THROW(jpeg().decode(with_first_segment(jpeg().encode(image, {}), segment), {}));
  }
  std::string of_no_order = exif(6);
  of_no_order[10] = of_no_order[11] = 'X';
  const Bytes file = with_first_segment(jpeg().encode(image, {}), of_no_order);
  EXPECT_EQ(jpeg().decode(file, {}).pixels.shape(), image.shape());
}

/// Libjpeg would fill up what it cannot read, and write a warning.
TEST(Jpeg, rejects_damaged_codes) {
  const Bytes whole = jpeg().encode(test::noise_image({64, 64, 1, Depth::u8}), {});
  int refused = 0;
  for (std::size_t i = whole.size() / 2; i < whole.size() / 2 + 100; ++i) {
    Bytes file = whole;
    file[i] = std::byte(0xFF);  // with what follows a marker, where none belongs
    refused += failure_of([&] { jpeg().decode(file, {}); }).reason == FailureReason::corrupt;
  }
  EXPECT_GT(refused, 90);
}

/// Libjpeg would take what it has not got to be gray.
TEST(Jpeg, rejects_a_missing_component) {
  Bytes file = jpeg().encode(gradient_image({24, 40, 1, Depth::u8}), {});
  const auto frame = find_segment(file, 0xC0);
  frame[3] = std::byte(8 + 3 * 3);
  frame[9] = std::byte(3);
  const Bytes components = raw_bytes("\x02\x11\0\x03\x11\0"sv);
  file.insert(frame + 13, components.begin(), components.end());
  EXPECT_EQ(jpeg().read_header(file).shape, (ImageShape{24, 40, 3, Depth::u8}));
  const test::CaughtError failure = failure_of([&] { jpeg().decode(file, {}); });
  EXPECT_EQ(failure.reason, FailureReason::corrupt);
  EXPECT_THAT(failure.detail, HasSubstr("components"));
}

TEST(Jpeg, rejects_a_file_truncated_anywhere) {
  for (const int channels : {1, 3}) {
    const Bytes whole = jpeg().encode(test::noise_image({24, 40, channels, Depth::u8}), {});
    for (std::size_t size = 3; size < whole.size(); ++size) {
      const Bytes file(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      const test::CaughtError failure = failure_of([&] { jpeg().decode(file, {}); });
      ASSERT_EQ(failure.reason, FailureReason::corrupt) << size << " bytes";
      ASSERT_THAT(failure.detail, HasSubstr("truncated"));
    }
  }
}

TEST(Jpeg, ignores_an_end_marker_within_a_thumbnail) {
  const Bytes whole = jpeg().encode(gradient_image({24, 40, 1, Depth::u8}), {});
  Bytes file = with_first_segment(whole, "\xFF\xE1\x00\x06\xFF\xD8\xFF\xD9"sv);
  EXPECT_NO_THROW(jpeg().decode(file, {}));
  file.erase(file.end() - 2, file.end());
  EXPECT_EQ(failure_of([&] { jpeg().decode(file, {}); }).reason, FailureReason::corrupt);
}

TEST(Jpeg, ignores_bytes_after_the_end) {
  Bytes file = jpeg().encode(gradient_image({24, 40, 1, Depth::u8}), {});
  file.insert(file.end(), 100, std::byte(7));
  EXPECT_NO_THROW(jpeg().decode(file, {}));
}

struct RejectedHeader {
  int marker, bits, rows, components;
  FailureReason reason;
  const char* message;
};

class JpegHeaderTest : public testing::TestWithParam<RejectedHeader> {};

TEST_P(JpegHeaderTest, is_rejected_with_its_reason) {
  const RejectedHeader& rejected = GetParam();
  const Bytes file = start_with_frame_header(rejected.marker, rejected.bits, rejected.rows, 300,
                                             rejected.components);
  const test::CaughtError failure = failure_of([&] { jpeg().read_header(file); });
  EXPECT_EQ(failure.reason, rejected.reason);
  EXPECT_EQ(failure.detail, rejected.message);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, JpegHeaderTest,
    testing::Values(
        RejectedHeader{0xC0, 8, 200, 4, FailureReason::unsupported,
                       "has four components (CMYK or YCCK); convert it to RGB first"},
        RejectedHeader{0xC0, 8, 200, 2, FailureReason::unsupported,
                       "has 2 components; convert it to gray or RGB first"},
        RejectedHeader{0xC1, 12, 200, 1, FailureReason::unsupported,
                       "has 12 bits per sample; convert it to 8 bits or to PNG first"},
        RejectedHeader{0xC3, 8, 200, 3, FailureReason::unsupported,
                       "is a lossless JPEG; convert it to baseline JPEG or to PNG first"},
        RejectedHeader{0xC5, 8, 200, 3, FailureReason::unsupported,
                       "is a hierarchical JPEG; convert it to baseline JPEG or to PNG first"},
        RejectedHeader{0xCB, 8, 200, 3, FailureReason::unsupported,
                       "is a lossless JPEG; convert it to baseline JPEG or to PNG first"},
        RejectedHeader{0xCD, 8, 200, 3, FailureReason::unsupported,
                       "is a hierarchical JPEG; convert it to baseline JPEG or to PNG first"},
        RejectedHeader{0xCE, 8, 200, 3, FailureReason::unsupported,
                       "is a hierarchical JPEG; convert it to baseline JPEG or to PNG first"},
        RejectedHeader{0xF7, 8, 200, 3, FailureReason::unsupported,
                       "is JPEG-LS; convert it to baseline JPEG or to PNG first"},
        RejectedHeader{0xC0, 8, 0, 3, FailureReason::unsupported,
                       "has no height in its header; re-save it first"},
        RejectedHeader{0xC0, 8, 65501, 3, FailureReason::too_large,
                       "65501 x 300 pixels exceed libjpeg's limit of 65500 per side"},
        RejectedHeader{0xFE, 8, 200, 3, FailureReason::corrupt,
                       "truncated: no end-of-image marker"},
        RejectedHeader{0xD9, 8, 200, 3, FailureReason::corrupt, "has no frame header"}));

TEST(Jpeg, accepts_a_progressive_file) {
  Bytes file = start_with_frame_header(0xC2, 8, 200, 300, 3);
  const Bytes scan = raw_bytes("\xFF\xDA\0\2"sv);
  file.insert(file.end(), scan.begin(), scan.end());
  EXPECT_EQ(jpeg().read_header(file).shape, (ImageShape{200, 300, 3, Depth::u8}));
}

}  // namespace
}  // namespace eckart::codec
