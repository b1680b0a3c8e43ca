#include "preparation/color_matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "preparation/gray.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::preparation {
namespace {

using test::same;
using test::sample;
using test::set_sample;

constexpr ColorMode kModes[] = {ColorMode::luma, ColorMode::ycbcr};

/// Red, green, blue, white and black.
Image primaries(Depth depth) {
  Image image({1, 5, 3, depth});
  for (int col = 0; col < 5; ++col) {
    for (int c = 0; c < 3; ++c)
      set_sample(image, 0, col, c, col == 3 || col == c ? peak(depth) : 0);
  }
  return image;
}

Image changed(const Image& image, int change) {
  Image result(image.shape());
  for (int row = 0; row < image.shape().rows; ++row) {
    for (int col = 0; col < image.shape().cols; ++col) {
      for (int c = 0; c < image.shape().channels; ++c)
        set_sample(result, row, col, c, sample(image, row, col, c) + change);
    }
  }
  return result;
}

/// The squared errors of Y, Cb and Cr in the pixels: ITU-T T.871, 7, R = Y + 1.402 Cr, and so on.
constexpr double kWeights[] = {3, 0.344136 * 0.344136 + 1.772 * 1.772,
                               1.402 * 1.402 + 0.714136 * 0.714136};

TEST(ColorMatrices, has_no_chroma_of_gray_float_pixels) {
  Image image({1, 2, 3, Depth::f32});
  std::fill_n(image.plane<float>(0).data, 3, 0.0F);
  std::fill_n(image.plane<float>(0).data + 3, 3, 1.0F);
  const Image ycbcr = color_matrices(image, ColorMode::ycbcr);
  const float* values = ycbcr.plane<float>(0).data;
  for (const std::size_t zero : {0, 1, 2, 4, 5}) EXPECT_NEAR(values[zero], 0, 1e-6);
  EXPECT_GT(values[3], 0.5F);
}

TEST(ColorMatrices, equals_those_of_jpeg_times_the_root_of_their_weight) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Image image = primaries(depth);
    const Image ycbcr = color_matrices(image, ColorMode::ycbcr);
    ASSERT_EQ(ycbcr.shape(), (ImageShape{1, 5, 3, Depth::u16}));
    const double scale = matrices_scale(image.shape(), ColorMode::ycbcr), white = peak(depth);
    constexpr double kZero = 32768;
    // ITU-R BT.601: the share of red, green and blue in Y, and of the differences in Cb and Cr.
    const double expected[5][3] = {{0.299, -0.168736, 0.5},
                                   {0.587, -0.331264, -0.418688},
                                   {0.114, 0.5, -0.081312},
                                   {1, 0, 0},
                                   {0, 0, 0}};
    for (int col = 0; col < 5; ++col) {
      for (int c = 0; c < 3; ++c) {
        const double value =
            scale * std::sqrt(kWeights[c]) * white * expected[col][c] + (c > 0 ? kZero : 0);
        EXPECT_NEAR(sample(ycbcr, 0, col, c), std::min(value, 65535.0), 0.51 + white * scale * 2e-6)
            << col << ", " << c;
      }
    }
  }
}

/// That of 16 bits is rounded to levels as a gray image, that of 8 bits much finer.
TEST(ColorMatrices, has_the_luma_of_gray_images) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const ImageShape shape{9, 7, 3, depth};
    const Image image = test::noise_image(shape), gray = to_gray(test::noise_image(shape));
    const Image luma = color_matrices(image, ColorMode::luma);
    ASSERT_EQ(luma.shape(), (ImageShape{9, 7, 1, Depth::u16}));
    const double scale = matrices_scale(shape, ColorMode::luma);
    for (int row = 0; row < shape.rows; ++row) {
      for (int col = 0; col < shape.cols; ++col) {
        const double exact = 0.299 * sample(image, row, col, 0) +
                             0.587 * sample(image, row, col, 1) +
                             0.114 * sample(image, row, col, 2);
        const double y = sample(luma, row, col, 0) / scale;
        EXPECT_NEAR(y, exact, depth == Depth::u8 ? 0.004 : 1) << "1/512, and the weights";
        EXPECT_NEAR(y, sample(gray, row, col, 0), 0.5 + 1 / scale);
      }
    }
  }
}

TEST(RestoreColors, gives_back_the_image_of_an_exact_approximation) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const ColorMode mode : kModes) {
      const Image image = test::noise_image({33, 21, 3, depth});
      const Image matrices = color_matrices(image, mode);
      const RestoredImage restored = restore_colors(image, matrices, matrices, mode);
      EXPECT_TRUE(same(restored.pixels, image)) << to_string(mode);
      EXPECT_EQ(restored.squared_error, 0);
      EXPECT_EQ(restored.residual, 0);
    }
  }
}

TEST(RestoreColors, changes_all_channels_by_the_change_of_luma) {
  Image image({1, 3, 3, Depth::u8});
  for (int col = 0; col < 3; ++col) {
    for (int c = 0; c < 3; ++c) set_sample(image, 0, col, c, 50 * (c + 1) + 10 * col);
  }
  const Image luma = color_matrices(image, ColorMode::luma);
  const double scale = matrices_scale(image.shape(), ColorMode::luma);
  for (const double change : {5.0, 4.75, 5.25}) {
    const RestoredImage restored =
        restore_colors(image, luma, changed(luma, int(change * scale)), ColorMode::luma);
    EXPECT_TRUE(same(restored.pixels, changed(image, 5))) << change;
    EXPECT_EQ(restored.squared_error, 9 * 25);
    EXPECT_EQ(restored.residual, 9 * change * change) << "before rounding";
  }
}

TEST(RestoreColors, changes_channels_as_y_cb_and_cr_tell) {
  Image image({1, 1, 3, Depth::u8});
  for (int c = 0; c < 3; ++c) set_sample(image, 0, 0, c, 100);
  const Image ycbcr = color_matrices(image, ColorMode::ycbcr);
  Image approximation = changed(ycbcr, 0);
  const double cr_scale = matrices_scale(image.shape(), ColorMode::ycbcr) * std::sqrt(kWeights[2]);
  const auto change = int(std::lround(10 * cr_scale));  // Cr: 10 levels
  set_sample(approximation, 0, 0, 2, sample(ycbcr, 0, 0, 2) + change);
  const RestoredImage restored = restore_colors(image, ycbcr, approximation, ColorMode::ycbcr);
  EXPECT_EQ(sample(restored.pixels, 0, 0, 0), 114) << "1.402 x 10";
  EXPECT_EQ(sample(restored.pixels, 0, 0, 1), 93) << "-0.714 x 10";
  EXPECT_EQ(sample(restored.pixels, 0, 0, 2), 100);
  EXPECT_NEAR(restored.residual, kWeights[2] * std::pow(change / cr_scale, 2), 0.01);
  EXPECT_EQ(restored.squared_error, 14 * 14 + 7 * 7);
}

/// So a target of quality for the matrices is one for the pixels.
TEST(RestoreColors, adds_up_the_squared_errors_of_the_matrices) {
  const ImageShape shape{1, 1, 3, Depth::u16};
  Image image(shape);
  for (int c = 0; c < 3; ++c) set_sample(image, 0, 0, c, 20000 + 3000 * c);
  const Image ycbcr = color_matrices(image, ColorMode::ycbcr);
  const double scale = matrices_scale(shape, ColorMode::ycbcr);
  for (int c = 0; c < 3; ++c) {
    Image approximation = changed(ycbcr, 0);
    set_sample(approximation, 0, 0, c, sample(ycbcr, 0, 0, c) + 100);
    const double residual = restore_colors(image, ycbcr, approximation, ColorMode::ycbcr).residual;
    EXPECT_NEAR(residual, 100 * 100 / (scale * scale), 1e-4 * residual) << c;
  }
}

TEST(RestoreColors, clamps_samples) {
  const Image image = primaries(Depth::u8);
  const Image luma = color_matrices(image, ColorMode::luma);
  const double scale = matrices_scale(image.shape(), ColorMode::luma);
  Image brighter(luma.shape());
  for (int col = 0; col < 5; ++col)
    set_sample(brighter, 0, col, 0, std::min(sample(luma, 0, col, 0) + int(100 * scale), 65535));
  const RestoredImage restored = restore_colors(image, luma, brighter, ColorMode::luma);
  EXPECT_EQ(sample(restored.pixels, 0, 0, 0), 255);
  EXPECT_EQ(sample(restored.pixels, 0, 0, 1), 100);
}

}  // namespace
}  // namespace eckart::preparation
