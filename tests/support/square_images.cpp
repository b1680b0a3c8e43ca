#include "tests/support/square_images.hpp"

#include <algorithm>
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "codec/codec.hpp"
#include "io/read_file.hpp"

namespace eckart::test {
namespace {

// Smaller images are resized. Others are cropped, from a mosaic if necessary.
constexpr int kMinPhotoSide = 256;

/// Builds a mosaic of images, beginning with number `first`, of at least side x side.
cv::Mat make_mosaic(const std::vector<cv::Mat>& images, std::size_t first, int side) {
  cv::Mat rows;
  while (rows.rows < side) {
    const int height = images[first % images.size()].rows;
    cv::Mat row;
    while (row.cols < side) {
      const cv::Mat& image = images[first++ % images.size()];
      cv::Mat part(height, image.cols, CV_8U);
      cv::copyMakeBorder(image.rowRange(0, std::min(height, image.rows)), part, 0,
                         std::max(0, height - image.rows), 0, 0, cv::BORDER_REFLECT_101);
      if (row.empty()) {
        row = part;
      } else {
        cv::hconcat(row, part, row);
      }
    }
    row = row.colRange(0, side);
    if (rows.empty()) {
      rows = row.clone();
    } else {
      cv::vconcat(rows, row, rows);
    }
  }
  return rows;
}

}  // namespace

std::vector<cv::Mat> read_planes(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && codec::is_image_file_name(entry.path().filename().string()))
      files.push_back(entry);
  }
  std::sort(files.begin(), files.end());
  std::vector<cv::Mat> planes;
  for (const auto& file : files) {
    const auto bytes = io::read_file(file, 1024);
    const Image image = codec::detect_codec(bytes).decode(bytes, {}).pixels;
    const cv::Mat pixels(image.shape().rows, image.shape().cols, CV_8UC(image.shape().channels),
                         const_cast<std::byte*>(image.data()));
    cv::Mat plane;
    cv::extractChannel(pixels, plane, 0);
    planes.push_back(plane);
  }
  return planes;
}

std::vector<Image> make_square_images(const std::vector<cv::Mat>& planes, int side, int count,
                                      Depth depth) {
  std::vector<Image> images;
  for (int i = 0; i < count; ++i) {
    cv::Mat source = planes[std::size_t(i) % planes.size()];
    const int pass = i / int(planes.size());
    const bool is_photo = std::min(source.rows, source.cols) >= kMinPhotoSide;
    if (is_photo && std::min(source.rows, source.cols) < side) {
      source = make_mosaic(planes, std::size_t(i), side + 64);
    }
    cv::Mat square;
    if (is_photo) {
      const cv::Rect crop((37 * pass) % (source.cols - side + 1),
                          (23 * pass) % (source.rows - side + 1), side, side);
      square = source(crop).clone();
    } else {
      const int margin = pass % 8;
      const cv::Rect crop(margin, margin, source.cols - 2 * margin, source.rows - 2 * margin);
      cv::resize(source(crop), square, {side, side}, 0, 0, cv::INTER_LANCZOS4);
    }
    if (depth == Depth::u16) {
      square.convertTo(square, CV_16U, 257);
      cv::GaussianBlur(square, square, {3, 3}, 0.5);
    }
    Image image({side, side, 1, depth});
    std::memcpy(image.data(), square.data, image.bytes());
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace eckart::test
