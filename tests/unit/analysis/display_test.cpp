#include "analysis/display.hpp"

#include <gtest/gtest.h>

#include "tests/unit/analysis/reference_images.hpp"

namespace eckart::test {
namespace {

std::uint8_t at(const Image& image, int row, int col) {
  return image.plane<std::uint8_t>(0)(row, col);
}

TEST(DisplayImage, shows_8_bits_unchanged_and_16_bits_from_the_smallest_to_the_largest_sample) {
  const Image bytes =
      make_image({4, 5, 1, Depth::u8}, [](int r, int c, int) { return 40 * r + c; });
  EXPECT_EQ(at(analysis::display_image(bytes, analysis::display_range(bytes)), 3, 2), 122);
  const Image words =
      make_image({2, 3, 1, Depth::u16}, [](int r, int c, int) { return 1000 + 20 * r + 10 * c; });
  const Image shown = analysis::display_image(words, analysis::display_range(words));
  EXPECT_EQ(at(shown, 0, 0), 0);
  EXPECT_EQ(at(shown, 1, 0), 128);
  EXPECT_EQ(at(shown, 1, 2), 255);
}

TEST(DisplayImage, shows_a_constant_image_of_16_bits) {
  const Image words = make_image({2, 3, 1, Depth::u16}, [](int, int, int) { return 700; });
  const analysis::DisplayRange range = analysis::display_range(words);
  EXPECT_LT(range.black, range.white);
  EXPECT_EQ(at(analysis::display_image(words, range), 0, 0), 0);
}

/// Whatever their unit is.
TEST(DisplayImage, shows_floats_from_the_smallest_to_the_largest_sample) {
  Image floats({1, 3, 1, Depth::f32});
  const MatrixView<float> samples = floats.plane<float>(0);
  samples(0, 0) = -4e-7F;
  samples(0, 1) = -2e-7F;
  samples(0, 2) = 0;
  const analysis::DisplayRange range = analysis::display_range(floats);
  const Image shown = analysis::display_image(floats, range);
  EXPECT_EQ(at(shown, 0, 0), 0);
  EXPECT_EQ(at(shown, 0, 1), 128);
  EXPECT_EQ(at(shown, 0, 2), 255);
  EXPECT_EQ(at(analysis::display_residual(floats, floats, range, 8), 0, 1), 128);
}

TEST(DisplayImage, shows_every_channel) {
  const ImageShape shape{2, 3, 3, Depth::u16};
  const Image words =
      make_image(shape, [](int r, int c, int channel) { return 1000 * channel + 300 * r + c; });
  const Image lower =
      make_image(shape, [](int r, int c, int channel) { return 990 * channel + 300 * r + c; });
  const analysis::DisplayRange range{0, 2550};
  const Image shown = analysis::display_image(words, range),
              residual = analysis::display_residual(words, lower, range, 4);
  EXPECT_EQ(shown.shape(), (ImageShape{2, 3, 3, Depth::u8}));
  for (int channel = 0; channel < 3; ++channel) {
    EXPECT_EQ(shown.plane<std::uint8_t>(channel)(1, 2), 100 * channel + 30);
    EXPECT_EQ(residual.plane<std::uint8_t>(channel)(1, 2), 128 + 4 * channel);
  }
}

TEST(DisplayImage, shows_levels_beyond_the_range_as_black_or_white) {
  const Image words =
      make_image({1, 3, 1, Depth::u16}, [](int, int c, int) { return 50 + 500 * c; });
  const Image shown = analysis::display_image(words, {100, 1000});
  EXPECT_EQ(at(shown, 0, 0), 0);
  EXPECT_EQ(at(shown, 0, 1), 128);
  EXPECT_EQ(at(shown, 0, 2), 255);
}

TEST(ResidualGain, refers_to_the_range_that_is_shown) {
  const ImageShape shape{20, 20, 1, Depth::u16};
  const Image a = make_image(shape, [](int, int, int) { return 5000; });
  const Image b = make_image(shape, [](int, int, int) { return 4950; });
  EXPECT_EQ(analysis::display_residual_gain(a, b, {0, 2550}), 16) << "5 of 255 levels";
  EXPECT_EQ(analysis::display_residual_gain(b, a, {0, 2550}), 16);
  EXPECT_EQ(analysis::display_residual_gain(a, b, {2000, 2510}), 4) << "25 of 255 levels";
  EXPECT_EQ(analysis::display_residual_gain(a, b, {0, 25.5}), 1);
}

TEST(ResidualImage, is_gray_where_nothing_differs) {
  const Image a = make_image({4, 5, 1, Depth::u8}, [](int r, int c, int) { return 40 * r + c; });
  const Image b = make_image({4, 5, 1, Depth::u8}, [](int r, int c, int) {
    return 40 * r + c + (r == 1 ? 3 : 0) - (r == 2 ? 3 : 0);
  });
  const Image residual = analysis::display_residual(a, b, {}, 8);
  EXPECT_EQ(at(residual, 0, 0), 128);
  EXPECT_EQ(at(residual, 1, 0), 104);
  EXPECT_EQ(at(residual, 2, 0), 152);
}

TEST(ResidualGain, is_the_largest_that_keeps_almost_all_residuals_in_range) {
  const ImageShape shape{100, 100, 1, Depth::u8};
  const Image a = make_image(shape, [](int, int, int) { return 100; });
  const auto gain = [&](int difference, int outliers) {
    const Image b = make_image(shape, [&](int r, int c, int) {
      return 100 + (r * 100 + c < outliers ? 150 : difference);
    });
    return analysis::display_residual_gain(a, b, {});
  };
  EXPECT_EQ(gain(0, 0), 64);
  EXPECT_EQ(gain(5, 0), 16);
  EXPECT_EQ(gain(5, 50), 16);  // one of 200
  EXPECT_EQ(gain(5, 51), 1);
}

}  // namespace
}  // namespace eckart::test
