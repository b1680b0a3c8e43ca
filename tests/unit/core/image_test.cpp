#include "core/image.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace eckart {
namespace {

/// An image whose samples are all different.
template <class T>
Image make_numbered_image(ImageShape shape) {
  Image image(shape);
  for (std::size_t i = 0; i < shape.samples(); ++i) {
    const T value = T(i);
    std::memcpy(image.data() + i * sizeof(T), &value, sizeof(T));
  }
  return image;
}

TEST(ImageShape, counts_samples_and_bytes) {
  EXPECT_EQ((ImageShape{3, 5, 1, Depth::u8}.bytes()), 15u);
  EXPECT_EQ((ImageShape{3, 5, 3, Depth::u8}.samples()), 45u);
  EXPECT_EQ((ImageShape{3, 5, 3, Depth::u16}.bytes()), 90u);
}

TEST(ImageShape, does_not_overflow_at_the_largest_size) {
  const ImageShape shape{65535, 65535, 3, Depth::u16};
  EXPECT_EQ(shape.bytes(), 65535ull * 65535 * 3 * 2);
}

TEST(ImageShape, has_bytes_and_peak_by_depth) {
  EXPECT_EQ(peak(Depth::u8), 255);
  EXPECT_EQ(peak(Depth::u16), 65535);
  EXPECT_NE((ImageShape{1, 1, 1, Depth::u8}), (ImageShape{1, 1, 1, Depth::u16}));
}

TEST(Image, has_planes_of_interleaved_channels) {
  const Image image = make_numbered_image<std::uint16_t>({4, 5, 3, Depth::u16});
  for (int c = 0; c < 3; ++c) {
    const auto plane = image.plane<std::uint16_t>(c);
    ASSERT_EQ(plane.rows, 4);
    ASSERT_EQ(plane.cols, 5);
    for (int row = 0; row < 4; ++row) {
      for (int col = 0; col < 5; ++col) EXPECT_EQ(plane(row, col), (row * 5 + col) * 3 + c);
    }
  }
}

TEST(Image, writes_one_plane_only) {
  Image image = make_numbered_image<std::uint8_t>({2, 2, 3, Depth::u8});
  image.plane<std::uint8_t>(1)(1, 0) = 200;
  EXPECT_EQ(image.plane<std::uint8_t>(0)(1, 0), 6);
  EXPECT_EQ(image.plane<std::uint8_t>(1)(1, 0), 200);
  EXPECT_EQ(image.plane<std::uint8_t>(2)(1, 0), 8);
}

TEST(Image, moves_pixels_without_copying) {
  static_assert(!std::is_copy_constructible_v<Image>);
  Image image = make_numbered_image<std::uint8_t>({2, 3, 1, Depth::u8});
  const std::byte* pixels = image.data();
  const Image moved = std::move(image);
  EXPECT_EQ(moved.data(), pixels);
  EXPECT_EQ(moved.bytes(), 6u);
  EXPECT_TRUE(image.empty());
  EXPECT_TRUE(Image().empty());
}

TEST(MatrixView, swaps_indices_when_transposed) {
  std::array<int, 6> data = {0, 1, 2, 3, 4, 5};
  const MatrixView<int> a{data.data(), 2, 3, 3, 1};
  const MatrixView<int> t = a.transposed();
  ASSERT_EQ(t.rows, 3);
  ASSERT_EQ(t.cols, 2);
  for (int row = 0; row < 2; ++row) {
    for (int col = 0; col < 3; ++col) EXPECT_EQ(&t(col, row), &a(row, col));
  }
  EXPECT_EQ(&t.transposed()(1, 2), &a(1, 2));
}

}  // namespace
}  // namespace eckart
