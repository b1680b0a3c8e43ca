#include "preparation/resize.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::preparation {
namespace {

constexpr std::pair<int, int> kTargets[] = {{1, 1}, {7, 50}, {33, 20}, {64, 64}, {100, 3}};

Image copy(const Image& image) {
  Image result(image.shape());
  std::memcpy(result.data(), image.data(), image.bytes());
  return result;
}

Image resized(const Image& image, int rows, int cols) {
  WeightCache weights;
  return resize(copy(image), rows, cols, weights);
}

/// Returns the image whose sample at (row, col) is sample `at(row, col)` of this image.
template <class At>
Image rearranged(const Image& image, int rows, int cols, At at) {
  Image result({rows, cols, image.shape().channels, image.shape().depth});
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      for (int c = 0; c < image.shape().channels; ++c) {
        const auto [from_row, from_col] = at(row, col);
        test::set_sample(result, row, col, c, test::sample(image, from_row, from_col, c));
      }
    }
  }
  return result;
}

Image flipped(const Image& image) {
  const auto [rows, cols, channels, depth] = image.shape();
  return rearranged(image, rows, cols, [rows = rows, cols = cols](int row, int col) {
    return std::pair(rows - 1 - row, cols - 1 - col);
  });
}

Image transposed(const Image& image) {
  return rearranged(image, image.shape().cols, image.shape().rows,
                    [](int row, int col) { return std::pair(col, row); });
}

/// Noise from 1/3 to 7/12 of the peak.
Image medium_noise_image(const ImageShape& shape) {
  Image image = test::noise_image(shape);
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      for (int c = 0; c < shape.channels; ++c)
        test::set_sample(image, row, col, c,
                         peak(shape.depth) / 3 + test::sample(image, row, col, c) / 4);
    }
  }
  return image;
}

class ResizeTest : public testing::TestWithParam<ImageShape> {};

TEST_P(ResizeTest, keeps_a_constant_image_constant) {
  for (const int value : {0, 1, 128, peak(GetParam().depth)}) {
    Image image(GetParam());
    for (int row = 0; row < GetParam().rows; ++row) {
      for (int col = 0; col < GetParam().cols; ++col) {
        for (int c = 0; c < GetParam().channels; ++c) test::set_sample(image, row, col, c, value);
      }
    }
    for (const auto& [rows, cols] : kTargets) {
      const Image result = resized(image, rows, cols);
      for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
          for (int c = 0; c < GetParam().channels; ++c)
            ASSERT_EQ(test::sample(result, row, col, c), value) << rows << " x " << cols;
        }
      }
    }
  }
}

TEST_P(ResizeTest, returns_an_image_of_the_same_size_as_it_is) {
  const Image image = test::noise_image(GetParam());
  EXPECT_TRUE(test::same(resized(image, image.shape().rows, image.shape().cols), image));
}

TEST_P(ResizeTest, commutes_with_a_flip_to_one_level) {
  const Image image = test::noise_image(GetParam());
  for (const auto& [rows, cols] : kTargets) {
    EXPECT_LE(test::largest_difference(resized(flipped(image), rows, cols),
                                       flipped(resized(image, rows, cols))),
              1)
        << rows << " x " << cols;
  }
}

/// Where nothing is clamped, the order of rows and columns only affects the rounding.
TEST_P(ResizeTest, commutes_with_a_transposition_to_two_levels) {
  const Image image = medium_noise_image(GetParam());
  for (const auto& [rows, cols] : kTargets) {
    EXPECT_LE(test::largest_difference(resized(transposed(image), cols, rows),
                                       transposed(resized(image, rows, cols))),
              2)
        << rows << " x " << cols;
  }
}

TEST_P(ResizeTest, resizes_each_channel_as_a_gray_image) {
  const Image image = test::noise_image(GetParam());
  const auto [height, width, channels, depth] = GetParam();
  const Image result = resized(image, 20, 70);
  for (int c = 0; c < channels; ++c) {
    Image plane({height, width, 1, depth});
    for (int row = 0; row < height; ++row) {
      for (int col = 0; col < width; ++col)
        test::set_sample(plane, row, col, 0, test::sample(image, row, col, c));
    }
    const Image gray = resized(plane, 20, 70);
    for (int row = 0; row < 20; ++row) {
      for (int col = 0; col < 70; ++col)
        ASSERT_EQ(test::sample(result, row, col, c), test::sample(gray, row, col, 0));
    }
  }
}

/// The largest sample stays the largest, although the filter overshoots beside it.
TEST_P(ResizeTest, clamps_to_the_range_of_the_depth) {
  const auto [rows, cols, channels, depth] = GetParam();
  Image image(GetParam());
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      for (int c = 0; c < channels; ++c)
        test::set_sample(image, row, col, c, col < cols / 2 ? 0 : peak(depth));
    }
  }
  const Image result = resized(image, rows, 4 * cols);
  for (int col = 0; col < 4 * cols; ++col) {
    const int value = test::sample(result, 0, col, 0);
    if (std::abs(col - 2 * cols) <= 4) continue;
    EXPECT_NEAR(value, col < 2 * cols ? 0 : peak(depth), peak(depth) / 10) << col;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ResizeTest,
                         testing::Values(ImageShape{37, 45, 1, Depth::u8},
                                         ImageShape{37, 45, 3, Depth::u8},
                                         ImageShape{37, 45, 1, Depth::u16},
                                         ImageShape{37, 45, 3, Depth::u16}));

TEST(ResizeBytes, is_the_input_if_the_size_stays) {
  EXPECT_EQ(resize_bytes({30, 40, 3, Depth::u8}, 30, 40), 30u * 40 * 3);
}

TEST(ResizeBytes, is_the_larger_of_the_two_steps) {
  const ImageShape shape{30, 40, 1, Depth::u8};
  EXPECT_EQ(resize_bytes(shape, 300, 40), 30u * 40 + 300 * 40);
  EXPECT_GE(resize_bytes(shape, 30, 400), 30u * 40 + 30 * 400);
  EXPECT_EQ(resize_bytes(shape, 300, 400), 30u * 400 + 300 * 400);
  EXPECT_EQ(resize_bytes(shape, 3000, 4), 30u * 40 + 3000 * 4) << "on a device";
}

}  // namespace
}  // namespace eckart::preparation
