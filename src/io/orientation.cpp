// EXIF orientation. Source: CIPA DC-008 (EXIF 2.32), 4.6.4; TIFF 6.0, section 2.
#include "io/orientation.hpp"

#include <algorithm>
#include <cstdint>
#include <opencv2/core.hpp>
#include <utility>

#include "io/opencv_codec.hpp"

namespace eckart::io {
namespace {

constexpr std::uint32_t kMaxOrientation = 8;

/// Reads numbers of a TIFF structure in its byte order. Returns 0 beyond the end.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> data)
      : data_(data), is_little_endian_(!data.empty() && data[0] == std::byte('I')) {}

  bool has_byte_order() const {
    return data_.size() >= 2 && data_[0] == data_[1] &&
           (is_little_endian_ || data_[0] == std::byte('M'));
  }

  std::uint32_t at(std::size_t offset, std::size_t bytes) const {
    if (offset > data_.size() || data_.size() - offset < bytes) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value = value << 8 | std::uint32_t(data_[offset + (is_little_endian_ ? bytes - 1 - i : i)]);
    return value;
  }

 private:
  std::span<const std::byte> data_;
  bool is_little_endian_;
};

}  // namespace

int exif_orientation(std::span<const std::byte> data) {
  constexpr std::uint32_t kMagic = 42, kOrientation = 0x0112, kShort = 3, kLong = 4;
  constexpr std::size_t kEntry = 12;  // bytes: tag, type, count, value
  const Tiff tiff(data);
  if (!tiff.has_byte_order() || tiff.at(2, 2) != kMagic) return kNormalOrientation;
  const std::size_t directory = tiff.at(4, 4);
  if (directory + 2 > data.size()) return kNormalOrientation;
  const std::size_t max_entries = (data.size() - directory - 2) / kEntry;
  const std::size_t entries = std::min<std::size_t>(tiff.at(directory, 2), max_entries);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    const std::uint32_t type = tiff.at(entry + 2, 2);
    // The standard requires SHORT, but some programs write LONG, and all readers accept it.
    if (tiff.at(entry, 2) != kOrientation || (type != kShort && type != kLong)) continue;
    const std::uint32_t value = tiff.at(entry + 8, type == kShort ? 2 : 4);
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
