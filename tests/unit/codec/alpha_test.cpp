#include "codec/alpha.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using test::failure_of;
using test::noise_image;
using testing::HasSubstr;

Picture noise_picture(Depth depth) {
  return {noise_image({5, 7, 3, depth}), noise_image({5, 7, 1, depth}), {}};
}

Image filled_with(const ImageShape& shape, int value) {
  Image image(shape);
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      for (int c = 0; c < shape.channels; ++c) test::set_sample(image, row, col, c, value);
    }
  }
  return image;
}

class AlphaTest : public testing::TestWithParam<Depth> {};

TEST_P(AlphaTest, is_split_from_interleaved_samples_and_joined_again) {
  const Picture before = noise_picture(GetParam());
  const PictureView view(before.pixels, before.alpha, before.metadata);
  const std::vector<std::byte> samples = interleave_alpha(view);
  EXPECT_EQ(samples.size(), 4u * 5 * 7 * std::size_t(GetParam()));
  const Picture after = split_alpha(samples, before.pixels.shape());
  EXPECT_TRUE(test::same(after.pixels, before.pixels));
  EXPECT_TRUE(test::same(after.alpha, before.alpha));
}

TEST_P(AlphaTest, is_dropped_if_it_is_opaque) {
  for (const AlphaPolicy policy : enum_values<AlphaPolicy>()) {
    Picture opaque = noise_picture(GetParam());
    opaque.alpha = filled_with(opaque.alpha.shape(), peak(GetParam()));
    apply_alpha_policy(opaque, policy);
    EXPECT_TRUE(opaque.alpha.empty());
    EXPECT_TRUE(test::same(opaque.pixels, noise_picture(GetParam()).pixels));
  }
}

TEST_P(AlphaTest, is_kept_with_all_pixels) {
  Picture kept = noise_picture(GetParam());
  apply_alpha_policy(kept, AlphaPolicy::keep);
  EXPECT_TRUE(test::same(kept.pixels, noise_picture(GetParam()).pixels));
  EXPECT_TRUE(test::same(kept.alpha, noise_picture(GetParam()).alpha));
}

TEST_P(AlphaTest, composes_on_white) {
  const int top = peak(GetParam());
  const ImageShape shape{1, 3, 3, GetParam()};
  Picture composed{filled_with(shape, 100), filled_with(alpha_shape(shape), 0), {}};
  test::set_sample(composed.alpha, 0, 1, 0, top);
  test::set_sample(composed.alpha, 0, 2, 0, top / 2);
  apply_alpha_policy(composed, AlphaPolicy::white);
  EXPECT_TRUE(composed.alpha.empty());
  EXPECT_EQ(test::sample(composed.pixels, 0, 0, 1), top) << "transparent";
  EXPECT_EQ(test::sample(composed.pixels, 0, 1, 1), 100) << "opaque";
  const double half = double(top / 2) / top;
  EXPECT_NEAR(test::sample(composed.pixels, 0, 2, 1), 100 * half + top * (1 - half), 0.5);
}

/// One sample that is not opaque, wherever it is.
TEST_P(AlphaTest, fails_if_any_sample_is_not_opaque) {
  for (int col = 0; col < 7; ++col) {
    Picture clear = noise_picture(GetParam());
    clear.alpha = filled_with(clear.alpha.shape(), peak(GetParam()));
    test::set_sample(clear.alpha, 4, col, 0, peak(GetParam()) - 1);
    const test::CaughtError failure =
        failure_of([&] { apply_alpha_policy(clear, AlphaPolicy::fail); });
    EXPECT_EQ(failure.reason, FailureReason::unsupported);
    EXPECT_THAT(failure.detail, HasSubstr("input.alpha"));
  }
}

/// Of floats, 1 is opaque and white.
TEST(FloatAlpha, is_opaque_at_one) {
  const auto picture = [](float alpha) {
    Picture floats{Image({1, 1, 1, Depth::f32}), Image({1, 1, 1, Depth::f32}), {}};
    floats.pixels.plane<float>(0)(0, 0) = -3;
    floats.alpha.plane<float>(0)(0, 0) = alpha;
    return floats;
  };
  Picture opaque = picture(1), kept = picture(0.25F), composed = picture(0.25F);
  apply_alpha_policy(opaque, AlphaPolicy::fail);
  EXPECT_TRUE(opaque.alpha.empty());
  apply_alpha_policy(kept, AlphaPolicy::keep);
  EXPECT_EQ(kept.alpha.plane<float>(0)(0, 0), 0.25F);
  apply_alpha_policy(composed, AlphaPolicy::white);
  EXPECT_EQ(composed.pixels.plane<float>(0)(0, 0), -3 * 0.25F + 0.75F);
}

INSTANTIATE_TEST_SUITE_P(Depths, AlphaTest, testing::Values(Depth::u8, Depth::u16));

}  // namespace
}  // namespace eckart::codec
