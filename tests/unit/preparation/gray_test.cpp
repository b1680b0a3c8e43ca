#include "preparation/gray.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::preparation {
namespace {

TEST(ToGray, keeps_gray_pixels_of_a_color_image) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    Image color({1, 256, 3, depth});
    for (int col = 0; col < 256; ++col) {
      for (int c = 0; c < 3; ++c) test::set_sample(color, 0, col, c, col * peak(depth) / 255);
    }
    const Image gray = to_gray(std::move(color));
    ASSERT_EQ(gray.shape(), (ImageShape{1, 256, 1, depth}));
    for (int col = 0; col < 256; ++col)
      EXPECT_EQ(test::sample(gray, 0, col, 0), col * peak(depth) / 255);
  }
}

/// The weights of ITU-R BT.601, of which red, green and blue have one each.
TEST(ToGray, weighs_the_channels) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    Image color({1, 3, 3, depth});
    for (int col = 0; col < 3; ++col) {
      for (int c = 0; c < 3; ++c) test::set_sample(color, 0, col, c, c == col ? peak(depth) : 0);
    }
    const Image gray = to_gray(std::move(color));
    const double weights[] = {0.299, 0.587, 0.114};
    for (int col = 0; col < 3; ++col)
      EXPECT_NEAR(test::sample(gray, 0, col, 0), weights[col] * peak(depth), 1);
  }
}

TEST(ToGray, returns_a_gray_image_as_it_is) {
  const ImageShape shape{7, 9, 1, Depth::u8};
  EXPECT_TRUE(test::same(to_gray(test::noise_image(shape)), test::noise_image(shape)));
}

}  // namespace
}  // namespace eckart::preparation
