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
