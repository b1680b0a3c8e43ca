#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/open_image.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using testing::ElementsAre;

const Codec& pnm() { return codec_for(ImageFormat::pnm); }

Image open_pnm(std::string_view text) {
  return test::open_image(ImageFormat::pnm, test::to_bytes(text)).pixels;
}

std::vector<int> pnm_samples(std::string_view text) { return test::samples(open_pnm(text)); }

FailureReason pnm_failure(std::string_view text) {
  return failure_of([&] { open_pnm(text); }).reason;
}

TEST(Pnm, reads_all_six_kinds) {
  EXPECT_THAT(pnm_samples("P1\n3 1\n1 01"), ElementsAre(0, 255, 0)) << "1 is black";
  EXPECT_THAT(pnm_samples("P2 2 1 255 7\n200"), ElementsAre(7, 200));
  EXPECT_THAT(pnm_samples("P3 1 1 255 1 2 3\n"), ElementsAre(1, 2, 3));
  EXPECT_THAT(pnm_samples("P4 3 2\n\xA0\x40"sv), ElementsAre(0, 255, 0, 255, 0, 255));
  EXPECT_THAT(pnm_samples("P4 9 2\n\x00\x80\x80\x00"sv),
              ElementsAre(255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 255, 255, 255, 255, 255,
                          255, 255, 255));
  EXPECT_THAT(pnm_samples("P5 2 1 255\n\x01\xFF"sv), ElementsAre(1, 255));
  EXPECT_THAT(pnm_samples("P6 1 1 65535\n\x00\x01\x02\x03\xFF\xFF"sv),
              ElementsAre(1, 0x203, 0xFFFF));
}

TEST(Pnm, skips_comments_and_white_space_in_its_header) {
  EXPECT_THAT(pnm_samples("P5 # a comment\n# 9 9 9\n 1\t1\r\n#\n255\nx"), ElementsAre('x'));
  EXPECT_THAT(pnm_samples("P5\n1 1#c\n255\n#"), ElementsAre('#')) << "pixels are no comment";
}

/// As Pillow does.
TEST(Pnm, scales_samples_to_the_peak) {
  EXPECT_THAT(pnm_samples("P5 3 1 3\n\0\1\3"sv), ElementsAre(0, 85, 255));
  EXPECT_THAT(pnm_samples("P5 2 1 100\n\1\x63"sv), ElementsAre(3, 252));
  const Image image = open_pnm("P2 3 1 4095 0 1 4095");
  EXPECT_EQ(image.shape().depth, Depth::u16);
  EXPECT_THAT(pnm_samples("P2 3 1 4095 0 1 4095"), ElementsAre(0, 16, 65535));
}

TEST(Pnm, ignores_bytes_after_the_pixels) {
  EXPECT_THAT(pnm_samples("P5 1 1 255\nxmore"), ElementsAre('x'));
}

TEST(Pnm, refuses_wrong_headers) {
  for (const std::string_view text :
       {"P5 0 1 255\nx"sv, "P5 1 0 255\nx"sv, "P5 1 1 0\nx"sv, "P5 1 1 65536\nxx"sv,
        "P5 1 1 x\n1"sv, "P5 99999999999 1 255\n1"sv, "P5 1 1"sv, "P5 -1 1 255\nx"sv, "P5\n"sv})
    EXPECT_EQ(pnm_failure(text), FailureReason::corrupt) << text;
  EXPECT_EQ(pnm_failure("P7\nWIDTH 1"), FailureReason::unsupported);
  EXPECT_EQ(pnm_failure("P5hello"), FailureReason::not_an_image);
}

TEST(Pnm, refuses_samples_above_the_maximum) {
  EXPECT_EQ(pnm_failure("P5 1 1 100\n\x65"), FailureReason::corrupt);
  EXPECT_EQ(pnm_failure("P2 1 1 100 101"), FailureReason::corrupt);
  EXPECT_EQ(pnm_failure("P1 1 1 2"), FailureReason::corrupt);
}

TEST(Pnm, refuses_incomplete_samples) {
  for (const std::string_view whole :
       {"P1 3 2 1 0 1 0 1 0"sv, "P2 3 1 255 11 22 33 "sv, "P4 9 2\n\1\2\3\4"sv,
        "P6 1 2 255\n123456"sv, "P5 1 2 65535\n1234"sv}) {
    EXPECT_EQ(pnm_failure(whole), FailureReason::none);
    // The last digit of a text is not missed, nor the white space after it.
    const std::size_t tail = whole[1] <= '3' ? 2 : 0;
    for (std::size_t size = 3; size + tail < whole.size(); ++size)
      EXPECT_EQ(pnm_failure(whole.substr(0, size)), FailureReason::corrupt)
          << whole.substr(0, size);
  }
}

TEST(Pnm, is_refused_before_its_pixels_are_allocated) {
  const Bytes file = test::to_bytes("P2 60000 60000 255\n1 2 3");
  EXPECT_EQ(failure_of([&] { pnm().read_header(file); }).reason, FailureReason::corrupt);
}

TEST(Pnm, checks_the_decode_time) {
  const Bytes file = pnm().encode(Image({4, 4, 1, Depth::u8}), {});
  EXPECT_EQ(failure_of([&] { pnm().decode(file, {.decode_s = 0}); }).reason,
            FailureReason::too_large);
}

}  // namespace
}  // namespace eckart::codec
