#include "analysis/residual.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analysis/reference_images.hpp"

namespace eckart::test {
namespace {

/// Two images of one row, with these samples.
struct Pair {
  Image a, b;

  Pair(Depth depth, const std::vector<int>& a_samples, const std::vector<int>& b_samples)
      : a(row(depth, a_samples)), b(row(depth, b_samples)) {}
  static Image row(Depth depth, const std::vector<int>& samples) {
    return make_image({1, int(samples.size()), 1, depth},
                      [&](int, int c, int) { return samples[std::size_t(c)]; });
  }
};

std::vector<int> samples_of(const Image& image) {
  std::vector<int> samples;
  for (int c = 0; c < image.shape().cols; ++c)
    samples.push_back(image.shape().depth == Depth::u8 ? image.plane<std::uint8_t>(0)(0, c)
                                                       : image.plane<std::uint16_t>(0)(0, c));
  return samples;
}

TEST(Residual, is_centered_at_half_of_the_range) {
  const Pair pair(Depth::u8, {10, 20, 30}, {12, 20, 25});
  EXPECT_EQ(samples_of(analysis::residual_image(pair.a, pair.b, 4)), (std::vector{120, 128, 148}));
  const Pair deep(Depth::u16, {1000, 20}, {1, 30});
  EXPECT_EQ(samples_of(analysis::residual_image(deep.a, deep.b, 1)), (std::vector{33767, 32758}));
}

TEST(Residual, is_clamped_to_the_range) {
  const Pair pair(Depth::u8, {255, 0}, {0, 255});
  EXPECT_EQ(samples_of(analysis::residual_image(pair.a, pair.b, 1)), (std::vector{255, 0}));
}

TEST(Residual, is_centered_at_zero_for_floats) {
  Image a({1, 2, 1, Depth::f32}), b(a.shape());
  a.plane<float>(0)(0, 0) = 1.5F;
  a.plane<float>(0)(0, 1) = -2;
  b.plane<float>(0)(0, 0) = 1;
  b.plane<float>(0)(0, 1) = 1e6F;
  EXPECT_EQ(analysis::largest_residual_gain(a, b), 1);
  const Image residual = analysis::residual_image(a, b, 2);
  EXPECT_EQ(residual.plane<float>(0)(0, 0), 1);
  EXPECT_EQ(residual.plane<float>(0)(0, 1), -2000004);
}

TEST(ResidualGain, is_the_largest_power_of_two_that_clips_nothing) {
  const auto gain = [](Depth depth, int difference) {
    const std::vector<int> zero{0}, other{std::abs(difference)};
    const Pair pair(depth, difference > 0 ? other : zero, difference > 0 ? zero : other);
    return analysis::largest_residual_gain(pair.a, pair.b);
  };
  EXPECT_EQ(gain(Depth::u8, 0), 1);
  EXPECT_EQ(gain(Depth::u8, 1), 64);
  EXPECT_EQ(gain(Depth::u8, -1), 128) << "half of the range is 128 below the center";
  EXPECT_EQ(gain(Depth::u8, 63), 2);
  EXPECT_EQ(gain(Depth::u8, 64), 1);
  EXPECT_EQ(gain(Depth::u8, 127), 1);
  EXPECT_EQ(gain(Depth::u8, 128), 0.5);
  EXPECT_EQ(gain(Depth::u8, 255), 0.25);
  EXPECT_EQ(gain(Depth::u8, -255), 0.5);
  EXPECT_EQ(gain(Depth::u16, 1), 16384);
  EXPECT_EQ(gain(Depth::u16, 65535), 0.25);
}

}  // namespace
}  // namespace eckart::test
