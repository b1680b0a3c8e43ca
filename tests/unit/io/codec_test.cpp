#include "io/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>

#include "tests/unit/io/failure_of.hpp"
#include "tests/unit/io/test_images.hpp"

namespace eckart::io {
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
}

TEST(Codec, is_detected_by_the_first_bytes_alone) {
  EXPECT_EQ(failure_of([] { detect_codec(Bytes()); }).reason, FailureReason::empty_file);
  for (const char* text : {"hello", "\x89PN", "\xFF\xD8", "GIF89a", "P5 1 1 255\n", "BM"}) {
    EXPECT_EQ(failure_of([&] { detect_codec(bytes(text)); }).reason, FailureReason::not_an_image)
        << text;
  }
}

TEST(Codec, names_key_and_value_of_an_exceeded_limit) {
  for (const Codec& codec : codecs()) {
    const Bytes file = codec.encode(test::noise_image({20, 30, 1, Depth::u8}), {});
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
  for (const char* name : {"a.png", "a.PNG", "a.jpg", "a.Jpeg", "a.jpe", "a.jfif", "a.b.png",
                           "\xFF.png", "a\nb.jpg", "a .png"}) {
    EXPECT_TRUE(is_image_file_name(name)) << name;
  }
  for (const char* name : {"", "png", "a", "a.", "a.txt", "a.png~", "a.png.tmp", "a.png.part",
                           ".a.png", ".png", "a.png.crdownload", ".nfs0001", "a.tiff", "a.png "}) {
    EXPECT_FALSE(is_image_file_name(name)) << name;
  }
}

}  // namespace
}  // namespace eckart::io
