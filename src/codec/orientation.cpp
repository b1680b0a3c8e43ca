#include "codec/orientation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace eckart::codec {
namespace {

/// Which pixel of an image of `rows` x `cols` is at (row, col) after it is oriented: first
/// transposed, then mirrored.
struct Orientation {
  bool is_transposed, mirrors_rows, mirrors_cols;
  int rows, cols;  // of the oriented image

  std::size_t source_index(int row, int col) const {
    const auto r = std::size_t(mirrors_rows ? rows - 1 - row : row);
    const auto c = std::size_t(mirrors_cols ? cols - 1 - col : col);
    return is_transposed ? c * std::size_t(rows) + r : r * std::size_t(cols) + c;
  }
};

/// In squares, so that the pixels of a column stay in the cache until their neighbors are copied.
template <class Pixel>
void copy_pixels(const Image& from, Image& to, const Orientation& orientation) {
  const auto* source = reinterpret_cast<const Pixel*>(from.data());
  auto* target = reinterpret_cast<Pixel*>(to.data());
  constexpr int kSide = 32;
  const int rows = orientation.rows, cols = orientation.cols;
  for (int top = 0; top < rows; top += kSide) {
    for (int left = 0; left < cols; left += kSide) {
      for (int row = top; row < std::min(rows, top + kSide); ++row) {
        for (int col = left; col < std::min(cols, left + kSide); ++col)
          target[std::size_t(row) * std::size_t(cols) + std::size_t(col)] =
              source[orientation.source_index(row, col)];
      }
    }
  }
}

}  // namespace

Image apply_orientation(Image image, int orientation) {
  if (orientation == kNormalOrientation) return image;
  // Orientations 5 to 8 are 1 to 4 after a transposition.
  const bool is_transposed = orientation > 4;
  const int mirroring = (orientation - 1) % 4;
  ImageShape shape = image.shape();
  if (is_transposed) std::swap(shape.rows, shape.cols);
  const Orientation pixels{.is_transposed = is_transposed,
                           .mirrors_rows = mirroring >= 2,
                           .mirrors_cols = mirroring == 1 || mirroring == 2,
                           .rows = shape.rows,
                           .cols = shape.cols};
  Image result(shape);
  with_sample_type(shape.depth, [&]<class Sample>(Sample*) {
    if (shape.channels == 1)
      copy_pixels<Sample>(image, result, pixels);
    else
      copy_pixels<std::array<Sample, 3>>(image, result, pixels);
  });
  return result;
}

Picture apply_orientation(Picture picture, int orientation) {
  picture.pixels = apply_orientation(std::move(picture.pixels), orientation);
  if (!picture.alpha.empty())
    picture.alpha = apply_orientation(std::move(picture.alpha), orientation);
  return picture;
}

}  // namespace eckart::codec
