#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "codec/codec.hpp"
#include "codec/dicom_header.hpp"
#include "tests/unit/codec/dicom_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_jpeg.hpp"
#include "tests/unit/codec/open_image.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::DicomMaker;
using test::failure_of;
using test::samples;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const Codec& dicom() { return codec_for(ImageFormat::dicom); }

Picture open_dicom(const Bytes& file) { return test::open_image(ImageFormat::dicom, file); }

TEST(Dicom, reads_8_and_16_bits_as_they_are_stored) {
  EXPECT_THAT(samples(open_dicom(DicomMaker(8).pixels("\1\xFF"sv).file()).pixels),
              ElementsAre(1, 255));
  const Picture wide = open_dicom(DicomMaker(16).pixels("\1\2\xFF\xFF"sv).file());
  EXPECT_EQ(wide.pixels.shape(), (ImageShape{1, 2, 1, Depth::u16}));
  EXPECT_THAT(samples(wide.pixels), ElementsAre(0x201, 0xFFFF));
}

/// Bits that are not stored may hold an overlay.
TEST(Dicom, ignores_bits_that_are_not_stored) {
  EXPECT_THAT(samples(open_dicom(DicomMaker(12).pixels("\1\xF2\xFF\x1F"sv).file()).pixels),
              ElementsAre(0x201, 0xFFF));
  EXPECT_THAT(
      samples(
          open_dicom(
              DicomMaker(12).number(DicomMaker::kHighBit, 15).pixels("\x1F\x20\xF0\xFF"sv).file())
              .pixels),
      ElementsAre(0x201, 0xFFF));
}

TEST(Dicom, shifts_signed_samples_and_inverts_monochrome_1) {
  const Bytes negative =
      DicomMaker(12).number(DicomMaker::kPixelRepresentation, 1).pixels("\xFF\xFF\1\0"sv).file();
  EXPECT_THAT(samples(open_dicom(negative).pixels), ElementsAre(2047, 2049)) << "-1 and 1";
  EXPECT_EQ(open_dicom(negative).metadata.dicom->offset, 2048);
  const Bytes inverted =
      DicomMaker(12).text(DicomMaker::kPhotometric, "MONOCHROME1").pixels("\0\0\xFF\x0F"sv).file();
  EXPECT_THAT(samples(open_dicom(inverted).pixels), ElementsAre(4095, 0));
  EXPECT_TRUE(open_dicom(inverted).metadata.dicom->is_inverted);
}

TEST(Dicom, tells_how_samples_become_values) {
  const Picture picture = open_dicom(DicomMaker(12)
                                         .number(DicomMaker::kPixelRepresentation, 1)
                                         .text(DicomMaker::kSlope, "0.5")
                                         .text(DicomMaker::kIntercept, "-1024")
                                         .text(DicomMaker::kWindowCenter, "40\\80")
                                         .text(DicomMaker::kWindowWidth, "400")
                                         .pixels("\0\0\0\0"sv)
                                         .file());
  EXPECT_EQ(to_string(*picture.metadata.dicom),
            "12 bits stored, value = 0.5 x (sample - 2048) - 1024, window 40 / 400");
}

DicomMaker with_text(DicomTag::Value tag, const std::string& value) {
  return DicomMaker(8).text(tag, value).pixels("12"sv);
}

TEST(Dicom, reads_numbers_with_a_sign) {
  const auto values = [](DicomTag::Value tag, const std::string& value) {
    return *open_dicom(with_text(tag, value).file()).metadata.dicom;
  };
  EXPECT_EQ(values(DicomMaker::kSlope, "+2.5").slope, 2.5);
  EXPECT_EQ(values(DicomMaker::kIntercept, " -1.5E+1 ").intercept, -15);
  EXPECT_EQ(values(DicomMaker::kWindowCenter, "+40 \\ 80").window_center, 40);
  EXPECT_EQ(values(DicomMaker::kSlope, "").slope, 1);
  EXPECT_EQ(failure_of([] { open_dicom(with_text(DicomMaker::kFrames, "+2").file()); }).reason,
            FailureReason::unsupported);
  EXPECT_NO_THROW(open_dicom(with_text(DicomMaker::kFrames, "+1").file()));
}

TEST(Dicom, refuses_texts_in_place_of_numbers) {
  for (const auto& [tag, value] :
       {std::pair{DicomMaker::kFrames, "1e300"}, std::pair{DicomMaker::kFrames, "99999999999"},
        std::pair{DicomMaker::kSlope, "1e999"}, std::pair{DicomMaker::kSlope, "++1"},
        std::pair{DicomMaker::kSlope, "nan"}, std::pair{DicomMaker::kWindowWidth, "wide"}}) {
    const Bytes file = with_text(tag, value).file();
    const test::CaughtError error = failure_of([&] { open_dicom(file); });
    EXPECT_EQ(error.reason, FailureReason::corrupt) << value;
    EXPECT_THAT(error.detail, HasSubstr(value));
  }
}

TEST(Dicom, refuses_very_many_fragments) {
  const auto with_fragments = [](std::size_t count) {
    return DicomMaker(8).syntax(".4.50").frame("JPEG", count).file();
  };
  EXPECT_NO_THROW(dicom().read_header(with_fragments(65536)));
  EXPECT_EQ(failure_of([&] { dicom().read_header(with_fragments(65537)); }).reason,
            FailureReason::unsupported);
}

TEST(Dicom, reads_implicit_types_and_skips_sequences) {
  EXPECT_THAT(samples(open_dicom(DicomMaker(8).syntax("").pixels("\1\2"sv).file()).pixels),
              ElementsAre(1, 2));
  // A sequence of undefined length with an item of undefined length.
  constexpr auto kSequence =
      "\x08\0\x40\x11SQ\0\0\xFF\xFF\xFF\xFF"
      "\xFE\xFF\0\xE0\xFF\xFF\xFF\xFF"
      "\x08\0\x50\x11UI\2\0001\0"
      "\xFE\xFF\x0D\xE0\0\0\0\0"
      "\xFE\xFF\xDD\xE0\0\0\0\0"sv;
  EXPECT_THAT(samples(open_dicom(DicomMaker(8).raw(kSequence).pixels("\1\2"sv).file()).pixels),
              ElementsAre(1, 2));
}

TEST(Dicom, skips_values_whose_length_has_four_bytes) {
  for (const std::string type :
       {"OB", "OD", "OF", "OL", "OV", "OW", "SV", "UC", "UN", "UR", "UT", "UV"}) {
    std::string element("\x09\0\x10\x10", 4);
    element += type + std::string("\0\0\4\0\0\0abcd", 10);
    EXPECT_THAT(samples(open_dicom(DicomMaker(8).raw(element).pixels("\1\2"sv).file()).pixels),
                ElementsAre(1, 2))
        << type;
  }
}

Bytes dicom_with_jpeg(int rows, int cols, const Bytes& jpeg) {
  return DicomMaker(8)
      .number(DicomMaker::kRows, rows)
      .number(DicomMaker::kCols, cols)
      .syntax(".4.50")
      .frame({reinterpret_cast<const char*>(jpeg.data()), jpeg.size()})
      .file();
}

TEST(Dicom, decodes_a_jpeg_frame) {
  const Image image = test::gradient_image({16, 24, 1, Depth::u8});
  const Bytes jpeg = test::make_jpeg(image, {});
  const Bytes file = dicom_with_jpeg(16, 24, jpeg);
  if (failure_of([&] { open_dicom(file); }).reason == FailureReason::unsupported)
    GTEST_SKIP() << "built without dcmtk";
  EXPECT_THAT(codec_libraries(), HasSubstr("dcmtk 3."));
  const Image decoded = open_dicom(file).pixels;
  ASSERT_EQ(decoded.shape(), image.shape());
  EXPECT_LE(test::largest_difference(decoded, codec_for(ImageFormat::jpeg).decode(jpeg, {}).pixels),
            1);
}

TEST(Dicom, refuses_a_frame_of_another_size) {
  const Bytes gray = test::make_jpeg(test::gradient_image({16, 24, 1, Depth::u8}), {});
  const Bytes rgb = test::make_jpeg(test::gradient_image({16, 24, 3, Depth::u8}), {});
  for (const Bytes& file : {dicom_with_jpeg(24, 16, gray), dicom_with_jpeg(8, 24, gray),
                            dicom_with_jpeg(16, 12, gray), dicom_with_jpeg(16, 24, rgb)}) {
    const test::CaughtError error = failure_of([&] { open_dicom(file); });
    EXPECT_EQ(error.reason, FailureReason::corrupt);
    EXPECT_THAT(error.detail, HasSubstr("a JPEG frame of 16 x 24 pixels"));
  }
}

TEST(Dicom, refuses_a_frame_without_a_frame_header) {
  const Bytes jpeg = test::make_jpeg(test::gradient_image({16, 24, 1, Depth::u8}), {});
  const auto with_markers = [&](std::string_view markers) {
    Bytes changed = jpeg;
    std::transform(markers.begin(), markers.end(), changed.begin(),
                   [](char c) { return std::byte(c); });
    return dicom_with_jpeg(16, 24, changed);
  };
  if (failure_of([&] { open_dicom(with_markers("")); }).reason == FailureReason::unsupported)
    GTEST_SKIP() << "built without dcmtk";
  const auto detail = [&](std::string_view markers) {
    const test::CaughtError error = failure_of([&] { open_dicom(with_markers(markers)); });
    EXPECT_EQ(error.reason, FailureReason::corrupt);
    return error.detail;
  };
  EXPECT_EQ(detail("\xFF\xD9"sv), "has a JPEG frame without a start marker");
  EXPECT_EQ(detail("\xFF\xD8\xFF\xD9"sv), "has a JPEG frame without a frame header");
  // dcmtk would never end at TEM, FF 01. It skips the others in another way than JpegSegments.
  EXPECT_THAT(detail("\xFF\xD8\xFF\x01"sv), HasSubstr("has the JPEG marker 1 before"));
  EXPECT_THAT(detail("\xFF\xD8\xFF\x02\0\2"sv), HasSubstr("has the JPEG marker 2 before"));
  EXPECT_THAT(detail("\xFF\xD8\xFF\xF7\0\x0B"sv), HasSubstr("has the JPEG marker 247 before"));
}

TEST(Dicom, names_what_is_not_supported) {
  const auto detail = [](const DicomMaker& maker) {
    const test::CaughtError error = failure_of([&] { dicom().read_header(maker.file()); });
    EXPECT_EQ(error.reason, FailureReason::unsupported) << error.detail;
    return error.detail;
  };
  const DicomMaker plain = DicomMaker(8).pixels("12"sv);
  EXPECT_THAT(detail(DicomMaker(plain).text(DicomMaker::kFrames, "20")), HasSubstr("20 frames"));
  EXPECT_THAT(detail(DicomMaker(plain).number(DicomMaker::kSamples, 3)), HasSubstr("3 samples"));
  EXPECT_THAT(detail(DicomMaker(plain).text(DicomMaker::kPhotometric, "PALETTE COLOR")),
              HasSubstr("PALETTE COLOR"));
  EXPECT_THAT(detail(DicomMaker(plain).text(DicomMaker::kPhotometric, "A\nB")),
              Not(HasSubstr("\n")));
  EXPECT_THAT(detail(DicomMaker(plain).number(DicomMaker::kBitsAllocated, 32)),
              HasSubstr("32 bits"));
  EXPECT_THAT(detail(DicomMaker(plain).syntax(".4.90")), HasSubstr("1.2.840.10008.1.2.4.90"));
}

TEST(Dicom, refuses_impossible_bits_and_sizes) {
  const DicomMaker plain = DicomMaker(8).pixels("12"sv);
  for (const DicomMaker& maker : {DicomMaker(plain).number(DicomMaker::kBitsStored, 0),
                                  DicomMaker(plain).number(DicomMaker::kHighBit, 8),
                                  DicomMaker(plain).number(DicomMaker::kHighBit, 3),
                                  DicomMaker(plain).number(DicomMaker::kRows, 0),
                                  DicomMaker(plain).number(DicomMaker::kRows, 2)}) {
    EXPECT_EQ(failure_of([&] { open_dicom(maker.file()); }).reason, FailureReason::corrupt);
  }
}

TEST(Dicom, refuses_every_truncation) {
  const Bytes whole = DicomMaker(8).text(DicomMaker::kSlope, "2").pixels("12"sv).file();
  for (std::size_t size = 132; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    EXPECT_EQ(failure_of([&] { open_dicom(part); }).reason, FailureReason::corrupt) << size;
  }
}

TEST(DicomValue, is_described) {
  DicomValues values;
  values.bits_stored = 12;
  EXPECT_EQ(to_string(values), "12 bits stored, value = 1 x sample + 0");
  values.bits_stored = 8;
  values.is_inverted = true;
  values.offset = 128;
  values.slope = 2.5;
  values.intercept = 7;
  values.window_center = 10;
  EXPECT_EQ(to_string(values), "8 bits stored, inverted, value = 2.5 x (sample - 128) + 7");
  values.window_width = 20.5;
  EXPECT_EQ(to_string(values),
            "8 bits stored, inverted, value = 2.5 x (sample - 128) + 7, window 10 / 20.5");
}

TEST(Dicom, inverts_signed_samples) {
  const Bytes file = DicomMaker(12)
                         .number(DicomMaker::kPixelRepresentation, 1)
                         .text(DicomMaker::kPhotometric, "MONOCHROME1")
                         .pixels("\0\0\x01\x08"sv)
                         .file();
  const Picture picture = open_dicom(file);
  EXPECT_THAT(samples(picture.pixels), ElementsAre(2047, 4094)) << "0 and -2047";
  const DicomValues& values = *picture.metadata.dicom;
  EXPECT_TRUE(values.is_inverted);
  EXPECT_EQ(values.bits_stored, 12);
  EXPECT_EQ(values.offset, 2048);
  EXPECT_EQ(values.slope, 1);
  EXPECT_EQ(values.intercept, 0);
  EXPECT_EQ(values.window_center, std::nullopt);
}

/// The frame is divided into fragments, and its last one padded.
TEST(Dicom, joins_the_fragments_of_a_frame) {
  const Bytes jpeg = test::make_jpeg(test::gradient_image({16, 24, 1, Depth::u8}), {});
  const std::string frame(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  const auto file_of = [&](std::size_t fragments) {
    return DicomMaker(8)
        .number(DicomMaker::kRows, 16)
        .number(DicomMaker::kCols, 24)
        .syntax(".4.50")
        .frame(frame, fragments)
        .file();
  };
  const Header header = dicom().read_header(file_of(3));
  const std::size_t padded = frame.size() + frame.size() % 2;
  EXPECT_EQ(header.max_decode_bytes, 16u * 24 + 2 * padded + 4 * 16 * 24);
  EXPECT_EQ(header.min_decode_bytes, header.max_decode_bytes);
  if (failure_of([&] { open_dicom(file_of(1)); }).reason == FailureReason::unsupported)
    GTEST_SKIP() << "built without dcmtk";
  EXPECT_TRUE(test::same(open_dicom(file_of(3)).pixels, open_dicom(file_of(1)).pixels));
}

TEST(Dicom, refuses_a_frame_of_other_bits) {
  const Bytes jpeg = test::make_jpeg(test::gradient_image({16, 24, 1, Depth::u8}), {});
  const std::string frame(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  const auto detail = [&](std::string_view changed, int bits) {
    DicomMaker maker(bits);
    maker.number(DicomMaker::kRows, 16).number(DicomMaker::kCols, 24).syntax(".4.51");
    const Bytes file = maker.frame(std::string(changed)).file();
    return failure_of([&] { open_dicom(file); }).detail;
  };
  EXPECT_EQ(detail(frame, 12), "has a JPEG frame of 8 bits, but declares 12");
  EXPECT_EQ(detail(frame.substr(0, frame.size() - 2), 8),
            "truncated: the JPEG frame has no end marker");
  EXPECT_EQ(detail("", 8), "truncated: the JPEG frame has no end marker");
}

}  // namespace
}  // namespace eckart::codec
