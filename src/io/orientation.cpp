// EXIF orientation. Source: CIPA DC-008 (EXIF 2.32), 4.6.4; TIFF 6.0, section 2.
#include "io/orientation.hpp"

#include <algorithm>
#include <cstdint>
#include <opencv2/core.hpp>
#include <utility>

#include "io/opencv_codec.hpp"
#include "io/tiff_reader.hpp"

namespace eckart::io {
namespace {

constexpr std::uint32_t kMaxOrientation = 8;

}  // namespace

int exif_orientation(std::span<const std::byte> data) {
  constexpr std::uint32_t kOrientation = 0x0112;
  const TiffReader tiff(data);
  if (!tiff.is_valid()) return kNormalOrientation;
  const std::size_t directory = tiff.first_directory();
  for (std::size_t i = 0; i < tiff.entries(directory); ++i) {
    const std::size_t entry = TiffReader::entry(directory, i);
    const std::uint32_t type = tiff.type_of(entry);
    // The standard requires SHORT, but some programs write LONG, and all readers accept it.
    if (tiff.at(entry, 2) != kOrientation || (type != TiffType::kShort && type != TiffType::kLong))
      continue;
    const std::uint32_t value = tiff.at(entry + 8, type == TiffType::kShort ? 2 : 4);
    return value >= 1 && value <= kMaxOrientation ? int(value) : kNormalOrientation;
  }
  return kNormalOrientation;
}

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

}  // namespace eckart::io
