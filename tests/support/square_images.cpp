#include "tests/support/square_images.hpp"

#include <algorithm>
#include <cstring>
#include <opencv2/imgproc.hpp>

#include "io/codec.hpp"
#include "io/file.hpp"

namespace eckart::testing {

std::vector<cv::Mat> read_planes(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && io::looks_like_image(entry.path().filename().string()))
      files.push_back(entry);
  }
  std::sort(files.begin(), files.end());
  std::vector<cv::Mat> planes;
  for (const auto& file : files) {
    const auto bytes = io::read_file(file, 1024);
    const Image image = io::codec_of(bytes).decode(bytes);
    const cv::Mat pixels(image.shape().rows, image.shape().cols, CV_8UC(image.shape().channels),
                         const_cast<std::byte*>(image.data()));
    cv::Mat plane;
    cv::extractChannel(pixels, plane, 0);
    planes.push_back(plane);
  }
  return planes;
}

std::vector<Image> make_square_images(const std::vector<cv::Mat>& planes, int side, int count) {
  std::vector<Image> images;
  for (int i = 0; i < count; ++i) {
    const cv::Mat& from = planes[std::size_t(i) % planes.size()];
    const int round = i / int(planes.size());
    cv::Mat square;
    if (from.rows >= side && from.cols >= side) {
      const cv::Rect crop((37 * round) % (from.cols - side + 1),
                          (23 * round) % (from.rows - side + 1), side, side);
      square = from(crop).clone();
    } else {
      const int margin = round % 8;
      const cv::Rect crop(margin, margin, from.cols - 2 * margin, from.rows - 2 * margin);
      cv::resize(from(crop), square, {side, side}, 0, 0, cv::INTER_LANCZOS4);
    }
    Image image({side, side, 1, Depth::u8});
    std::memcpy(image.data(), square.data, image.bytes());
    images.push_back(std::move(image));
  }
  return images;
}

}  // namespace eckart::testing
