// What holds for every format that is written without loss.
#include <gtest/gtest.h>

#include <string>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using test::Bytes;
using test::failure_of;
using test::noise_image;

struct RoundTrip {
  OutputFormat format;
  ImageShape shape;
  bool has_alpha = false;
};

std::string name_of(const testing::TestParamInfo<RoundTrip>& info) {
  const auto& [format, shape, has_alpha] = info.param;
  return to_string(format) + "_" + std::to_string(shape.rows) + "x" + std::to_string(shape.cols) +
         "x" + std::to_string(shape.channels) + "_" + std::to_string(8 * int(shape.depth)) +
         (has_alpha ? "_alpha" : "");
}

/// Every lossless format with every shape that it can hold without a conversion.
std::vector<RoundTrip> round_trips() {
  std::vector<RoundTrip> list;
  for (const OutputFormat format :
       {OutputFormat::png, OutputFormat::tiff, OutputFormat::webp, OutputFormat::pnm}) {
    for (const auto& [rows, cols] : {std::pair{1, 1}, {37, 61}, {1, 3000}, {3000, 1}}) {
      for (const int channels : {1, 3}) {
        for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
          for (const bool has_alpha : {false, true}) {
            const bool is_rgb8 = channels == 3 && depth == Depth::u8;
            if (format == OutputFormat::webp && !is_rgb8) continue;
            if (format == OutputFormat::pnm && has_alpha) continue;
            if (format != OutputFormat::tiff && is_float(depth)) continue;
            list.push_back({format, {rows, cols, channels, depth}, has_alpha});
          }
        }
      }
    }
  }
  return list;
}

class CodecRoundTripTest : public testing::TestWithParam<RoundTrip> {
 protected:
  Bytes encoded() const {
    const Metadata none;
    return codec_.encode(PictureView(pixels_, alpha_, none), {});
  }

  const Codec& codec_ = codec_for(GetParam().format);
  const Image pixels_ = noise_image(GetParam().shape);
  const Image alpha_ =
      GetParam().has_alpha
          ? noise_image({GetParam().shape.rows, GetParam().shape.cols, 1, GetParam().shape.depth})
          : Image();
};

TEST_P(CodecRoundTripTest, is_exact) {
  const Bytes file = encoded();
  EXPECT_EQ(&detect_codec(file), &codec_);
  const Header header = admit(codec_, file, {});
  EXPECT_EQ(header.shape, pixels_.shape());
  EXPECT_EQ(header.may_have_alpha, GetParam().has_alpha);
  EXPECT_GE(header.min_decode_bytes, pixels_.bytes() + alpha_.bytes());
  EXPECT_LE(header.min_decode_bytes, header.max_decode_bytes);
  const Picture picture = codec_.decode(file, {});
  EXPECT_TRUE(test::same(picture.pixels, pixels_));
  ASSERT_EQ(picture.alpha.empty(), alpha_.empty());
  EXPECT_TRUE(alpha_.empty() || test::same(picture.alpha, alpha_));
}

TEST_P(CodecRoundTripTest, encodes_deterministically) { EXPECT_EQ(encoded(), encoded()); }

/// A file may end with bytes that nothing depends on.
TEST_P(CodecRoundTripTest, does_not_decode_a_truncated_file_to_other_pixels) {
  const Bytes whole = encoded();
  constexpr std::size_t kMaxIgnored = 4;
  const std::size_t step = whole.size() / 50 + 1;
  for (std::size_t size = 4; size < whole.size(); size += step) {
    const Bytes part(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    Picture picture;
    const test::CaughtError failure = failure_of([&] { picture = codec_.decode(part, {}); });
    if (failure.reason == FailureReason::corrupt) continue;
    EXPECT_EQ(failure.reason, FailureReason::none) << size << " of " << whole.size();
    EXPECT_LE(whole.size() - size, kMaxIgnored);
    EXPECT_TRUE(test::same(picture.pixels, pixels_));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, CodecRoundTripTest, testing::ValuesIn(round_trips()), name_of);

TEST(Codec, refuses_floats_that_its_format_cannot_hold) {
  const ImageShape shape{2, 3, 1, Depth::f32};
  for (const OutputFormat format :
       {OutputFormat::png, OutputFormat::jpeg, OutputFormat::webp, OutputFormat::pnm}) {
    const test::CaughtError error =
        failure_of([&] { codec_for(format).check_encodable(shape, false); });
    EXPECT_EQ(error.reason, FailureReason::not_encodable);
    EXPECT_NE(error.detail.find("does not support 32-bit float samples; use output.format=tiff"),
              std::string::npos)
        << error.detail;
  }
  codec_for(OutputFormat::tiff).check_encodable(shape, false);
}

TEST(Codec, refuses_alpha_that_its_format_cannot_hold) {
  for (const OutputFormat format : {OutputFormat::jpeg, OutputFormat::pnm}) {
    const Image image = noise_image({4, 4, 3, Depth::u8}),
                alpha = noise_image({4, 4, 1, Depth::u8});
    const test::CaughtError failure =
        failure_of([&] { codec_for(format).encode(PictureView(image, alpha, {}), {}); });
    EXPECT_EQ(failure.reason, FailureReason::not_encodable);
    EXPECT_NE(failure.detail.find("input.alpha=white"), failure.detail.npos);
  }
}

}  // namespace
}  // namespace eckart::codec
