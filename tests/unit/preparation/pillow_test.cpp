// Compares with the vectors of vectors/make_vectors.py.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "core/preparation.hpp"
#include "preparation/gray.hpp"
#include "preparation/resize.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::preparation {
namespace {

std::ifstream open_vector(const std::string& name) {
  std::ifstream file(std::string(ECKART_PILLOW_VECTORS) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return file;
}

/// Reads a PGM or PPM file.
Image read(const std::string& name) {
  std::ifstream file = open_vector(name);
  std::string kind;
  int cols = 0, rows = 0, max = 0;
  file >> kind >> cols >> rows >> max;
  file.get();
  Image image({rows, cols, kind == "P5" ? 1 : 3, max > 255 ? Depth::u16 : Depth::u8});
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      for (int c = 0; c < image.shape().channels; ++c) {
        int value = file.get();
        if (max > 255) value = value * 256 + file.get();
        test::set_sample(image, row, col, c, value);
      }
    }
  }
  EXPECT_TRUE(file) << name;
  return image;
}

class PillowSizeTest : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  /// Returns the largest difference from the vector of this size.
  static int difference(const std::string& name, const std::string& extension) {
    const auto [width, height] = GetParam();
    const Image expected =
        read(name + "_" + std::to_string(width) + "x" + std::to_string(height) + extension);
    WeightCache weights;
    const Image resized = resize(read(name + extension), height, width, weights);
    EXPECT_EQ(resized.shape(), expected.shape());
    return test::largest_difference(resized, expected);
  }
};

TEST_P(PillowSizeTest, has_the_same_8_bit_samples) {
  EXPECT_EQ(difference("gray", ".pgm"), 0);
  EXPECT_EQ(difference("color", ".ppm"), 0);
}

TEST_P(PillowSizeTest, has_the_16_bit_samples_of_the_float64_filter) {
  EXPECT_LE(difference("gray16", ".pgm"), 1);
}

INSTANTIATE_TEST_SUITE_P(Vectors, PillowSizeTest,
                         testing::Values(std::pair(13, 7), std::pair(40, 31), std::pair(24, 9),
                                         std::pair(11, 18), std::pair(5, 40), std::pair(60, 3),
                                         std::pair(1, 1)));

TEST(Pillow, has_the_same_gray_samples) {
  EXPECT_TRUE(test::same(to_gray(read("color.ppm")), read("gray.pgm")));
}

TEST(Pillow, has_the_same_sizes_of_thumbnails) {
  std::ifstream file = open_vector("thumbnails.txt");
  std::string header;
  std::getline(file, header);
  int width = 0, height = 0, limit = 0, cols = 0, rows = 0, count = 0;
  while (file >> width >> height >> limit >> cols >> rows) {
    const ImageShape shape =
        resized_shape({height, width, 1, Depth::u8}, TargetSize::at_most(limit));
    EXPECT_EQ(shape, (ImageShape{rows, cols, 1, Depth::u8}))
        << width << " x " << height << ", max:" << limit;
    ++count;
  }
  EXPECT_GE(count, 100);
}

}  // namespace
}  // namespace eckart::preparation
