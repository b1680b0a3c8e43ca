#include "codec/orientation.hpp"

#include <opencv2/core.hpp>
#include <utility>

#include "codec/opencv_codec.hpp"

namespace eckart::codec {

Image apply_orientation(Image image, int orientation) {
  if (orientation == kNormalOrientation) return image;
  // Orientations 5 to 8 are 1 to 4 after a transposition.
  constexpr int kRows = 0, kCols = 1, kBoth = -1;  // flip codes of cv::flip
  const bool is_transposed = orientation > 4;
  ImageShape shape = image.shape();
  if (is_transposed) std::swap(shape.rows, shape.cols);
  Image result(shape);
  cv::Mat from = as_mat(image), to = as_mat(result);
  if (is_transposed) {
    cv::transpose(from, to);
    from = to;
  }
  switch ((orientation - 1) % 4) {
    case 1:
      cv::flip(from, to, kCols);
      break;
    case 2:
      cv::flip(from, to, kBoth);
      break;
    case 3:
      cv::flip(from, to, kRows);
      break;
  }
  return result;
}

Picture apply_orientation(Picture picture, int orientation) {
  picture.pixels = apply_orientation(std::move(picture.pixels), orientation);
  if (!picture.alpha.empty())
    picture.alpha = apply_orientation(std::move(picture.alpha), orientation);
  return picture;
}

}  // namespace eckart::codec
