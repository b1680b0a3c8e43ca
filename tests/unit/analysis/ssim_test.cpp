#include "analysis/ssim.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/analysis/reference_images.hpp"

namespace eckart::test {
namespace {

TEST(Ssim, equals_that_of_scikit_image) {
  for (const ReferenceValues& values : kReferenceValues) {
    const auto [a, b] = reference_images(values);
    EXPECT_NEAR(analysis::ssim(a, b, values.peak), values.ssim, 1e-8)
        << values.rows << " x " << values.cols << ", " << values.bits << " bits";
  }
}

TEST(Ssim, is_1_for_equal_images) {
  for (const ReferenceValues& values : kReferenceValues) {
    const auto [a, b] = reference_images(values);
    EXPECT_DOUBLE_EQ(analysis::ssim(a, a, values.peak), 1);
  }
}

TEST(Ssim, is_symmetric) {
  const auto [a, b] = reference_images(kReferenceValues[2]);
  EXPECT_DOUBLE_EQ(analysis::ssim(a, b, 255), analysis::ssim(b, a, 255));
}

TEST(Ssim, is_exact_for_the_largest_samples) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const Image white = make_image({300, 9, 1, depth}, [&](int, int, int) { return peak(depth); });
    EXPECT_DOUBLE_EQ(analysis::ssim(white, white, peak(depth)), 1);
  }
}

/// SSIM as it is defined: the mean over all windows, each by its own samples.
double ssim_of_windows(const Image& a, const Image& b, double peak) {
  constexpr int kSide = analysis::kSsimWindow, kPixels = kSide * kSide;
  const double c1 = 0.01 * peak * 0.01 * peak, c2 = 0.03 * peak * 0.03 * peak;
  const ImageShape& shape = a.shape();
  double total = 0;
  int windows = 0;
  for (int channel = 0; channel < shape.channels; ++channel) {
    const auto plane_a = a.plane<float>(channel), plane_b = b.plane<float>(channel);
    for (int row = 0; row + kSide <= shape.rows; ++row) {
      for (int col = 0; col + kSide <= shape.cols; ++col) {
        const auto mean = [&](const auto& value) {
          long double sum = 0;
          for (int i = 0; i < kPixels; ++i) sum += value(row + i / kSide, col + i % kSide);
          return double(sum / kPixels);
        };
        const double mean_a = mean([&](int r, int c) { return plane_a(r, c); });
        const double mean_b = mean([&](int r, int c) { return plane_b(r, c); });
        const auto covariance = [&](const auto& x, double mean_x, const auto& y, double mean_y) {
          return mean([&](int r, int c) { return (x(r, c) - mean_x) * (y(r, c) - mean_y); }) *
                 kPixels / (kPixels - 1);
        };
        total += (2 * mean_a * mean_b + c1) *
                 (2 * covariance(plane_a, mean_a, plane_b, mean_b) + c2) /
                 ((mean_a * mean_a + mean_b * mean_b + c1) *
                  (covariance(plane_a, mean_a, plane_a, mean_a) +
                   covariance(plane_b, mean_b, plane_b, mean_b) + c2));
        ++windows;
      }
    }
  }
  return total / windows;
}

/// Noise between -1 and 1.
double noise(int row, int col, int seed) {
  return (row * row * 17 + col * col * 29 + row * col * 13 + seed * 37) % 101 / 50.0 - 1;
}

struct FloatCase {
  const char* text;
  double offset, amplitude;                ///< of the samples
  double bright_offset, bright_amplitude;  ///< of the upper left corner
  double peak;
};

/// Running sums, and differences of sums of squares, are wrong in most of these.
TEST(Ssim, is_accurate_for_floats_of_large_values_and_ranges) {
  for (const FloatCase& values :
       {FloatCase{"noise of 1", 0, 1, 0, 1, 2}, FloatCase{"far from 0", 1e6, 1, 1e6, 1, 2},
        FloatCase{"farther from 0", -1e7, 8, -1e7, 8, 16},
        FloatCase{"a bright region", 0, 1e-3, 1e9, 1e8, 2e-3},
        FloatCase{"its range", 0, 1e-3, 1e9, 1e8, 1e9}}) {
    const auto image = [&](int seed) {
      return make_image({40, 31, 3, Depth::f32}, [&](int r, int c, int channel) {
        const double n = 0.7 * noise(r, c, channel) + 0.3 * noise(c, r, channel + seed);
        return r < 12 && c < 15 ? values.bright_offset + values.bright_amplitude * n
                                : values.offset + values.amplitude * n;
      });
    };
    const Image a = image(3), b = image(20);
    const double expected = ssim_of_windows(a, b, values.peak);
    EXPECT_NEAR(analysis::ssim(a, b, values.peak), expected, 1e-9) << values.text;
    EXPECT_DOUBLE_EQ(analysis::ssim(a, a, values.peak), 1) << values.text;
    EXPECT_LT(expected, 0.995) << values.text;
  }
}

TEST(Ssim, is_not_a_number_for_images_smaller_than_its_window) {
  const auto zero = [](int, int, int) { return 0; };
  for (const ImageShape shape : {ImageShape{6, 40, 1, Depth::u8}, ImageShape{40, 6, 3, Depth::u16}})
    EXPECT_TRUE(std::isnan(analysis::ssim(make_image(shape, zero), make_image(shape, zero), 255)));
}

TEST(Ssim, is_not_a_number_for_a_constant_image_without_range) {
  const Image flat = make_image({9, 9, 1, Depth::u8}, [](int, int, int) { return 7; });
  EXPECT_TRUE(std::isnan(analysis::ssim(flat, flat, 0)));
}

}  // namespace
}  // namespace eckart::test
