#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using test::Bytes;
using test::failure_of;
using test::gradient_image;
using testing::HasSubstr;

const Codec& webp() { return codec_for(ImageFormat::webp); }

TEST(Webp, holds_gray_as_rgb) {
  const Image gray = gradient_image({9, 11, 1, Depth::u8});
  const Image rgb = webp().decode(webp().encode(gray, {}), {}).pixels;
  ASSERT_EQ(rgb.shape(), (ImageShape{9, 11, 3, Depth::u8}));
  for (int c = 0; c < 3; ++c) EXPECT_EQ(test::sample(rgb, 4, 5, c), test::sample(gray, 4, 5, 0));
}

TEST(Webp, is_smaller_and_less_exact_at_a_lower_quality) {
  const Image image = test::noise_image({64, 64, 3, Depth::u8});
  std::size_t size = webp().encode(image, {}).size();
  for (const int quality : {100, 50, 1}) {
    const Bytes file = webp().encode(image, {.webp_quality = quality});
    EXPECT_LT(file.size(), size);
    size = file.size();
    EXPECT_GT(test::largest_difference(webp().decode(file, {}).pixels, image), 0);
  }
}

TEST(Webp, keeps_profile_exif_and_xmp) {
  const Image image = gradient_image({9, 11, 3, Depth::u8});
  Metadata metadata;
  metadata.icc = test::make_icc();
  metadata.exif = test::make_exif({.orientation = 1});
  metadata.xmp = Bytes(20, std::byte('x'));
  const Bytes file = webp().encode(PictureView(image, Image(), metadata), {});
  const Picture picture = webp().decode(file, {});
  EXPECT_EQ(picture.metadata.icc, metadata.icc);
  EXPECT_EQ(picture.metadata.exif, metadata.exif);
  EXPECT_EQ(picture.metadata.xmp, metadata.xmp);
  EXPECT_TRUE(test::same(picture.pixels, image));
}

TEST(Webp, applies_exif_orientation) {
  const Image image = gradient_image({9, 11, 3, Depth::u8});
  constexpr std::string_view kTurned("MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0", 26);
  Metadata metadata;
  metadata.exif = test::to_bytes(kTurned);
  const Bytes file = webp().encode(PictureView(image, Image(), metadata), {});
  const Image upright = webp().decode(file, {}).pixels;
  ASSERT_EQ(upright.shape(), (ImageShape{11, 9, 3, Depth::u8}));
  EXPECT_EQ(test::sample(upright, 0, 8, 0), test::sample(image, 0, 0, 0));
}

/// A file with an EXIF chunk of these bytes, which may be damaged.
Bytes with_exif_chunk(const std::string& bytes, const Bytes& icc = {}) {
  constexpr std::size_t kFlags = 20;  // in the VP8X chunk
  constexpr std::byte kHasExif{0x08}, kHasXmp{0x04};
  Metadata metadata;
  metadata.icc = icc;
  metadata.xmp = test::as_bytes(bytes);
  std::string file = test::as_string(
      webp().encode(PictureView(gradient_image({9, 11, 3, Depth::u8}), Image(), metadata), {}));
  file.replace(file.rfind("XMP "), 4, "EXIF");
  Bytes result = test::as_bytes(file);
  result[kFlags] = (result[kFlags] & ~kHasXmp) | kHasExif;
  return result;
}

/// Some programs write EXIF data as in a JPEG.
TEST(Webp, ignores_the_prefix_of_exif_in_jpeg) {
  const Bytes exif = test::make_exif({.orientation = 6});
  const Picture picture =
      webp().decode(with_exif_chunk(std::string("Exif\0\0", 6) + test::as_string(exif)), {});
  EXPECT_EQ(picture.pixels.shape(), (ImageShape{11, 9, 3, Depth::u8}));
  EXPECT_EQ(picture.metadata.exif, exif);
}

TEST(Webp, drops_damaged_metadata_and_names_it) {
  const Metadata read =
      webp().decode(with_exif_chunk("damaged", Bytes(301, std::byte(7))), {}).metadata;
  EXPECT_EQ(read.dropped, "ICC profile (damaged), EXIF (damaged)");
  EXPECT_EQ(read.bytes(), 0U);
}

TEST(Webp, refuses_what_it_cannot_hold) {
  EXPECT_THAT(failure_of([] {
                webp().encode(Image({2, 2, 1, Depth::u16}), {});
              }).detail,
              HasSubstr("16-bit"));
  EXPECT_EQ(failure_of([] {
              webp().check_encodable({16384, 1, 1, Depth::u8}, false);
            }).reason,
            FailureReason::not_encodable);
  EXPECT_NO_THROW(webp().check_encodable({16383, 1, 1, Depth::u8}, true));
}

TEST(Webp, refuses_an_animation) {
  // A canvas of 1 x 1 pixels.
  constexpr std::string_view kAnimation(
      "RIFF\x16\0\0\0WEBPVP8X\x0A\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 34);
  const Bytes file = test::to_bytes(kAnimation);
  const test::CaughtError failure = failure_of([&] { webp().read_header(file); });
  EXPECT_EQ(failure.reason, FailureReason::unsupported);
  EXPECT_THAT(failure.detail, HasSubstr("animation"));
}

TEST(Webp, refuses_every_truncation) {
  const Image image = test::noise_image({10, 12, 3, Depth::u8});
  for (const int quality : {kLosslessWebp, 80}) {
    const Bytes whole = webp().encode(image, {.webp_quality = quality});
    for (std::size_t size = 12; size < whole.size(); ++size) {
      Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
      EXPECT_EQ(failure_of([&] { webp().decode(part, {}); }).reason, FailureReason::corrupt);
    }
  }
}

TEST(Webp, checks_the_decode_time) {
  const Bytes file = webp().encode(Image({4, 4, 3, Depth::u8}), {});
  EXPECT_EQ(failure_of([&] { webp().decode(file, {.decode_s = 0}); }).reason,
            FailureReason::too_large);
}

}  // namespace
}  // namespace eckart::codec
