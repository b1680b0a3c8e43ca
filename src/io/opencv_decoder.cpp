#include "io/opencv_decoder.hpp"

#include <algorithm>
#include <climits>
#include <new>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "core/error.hpp"
#include "io/opencv_codec.hpp"

namespace eckart::io {
namespace {

constexpr int kAlpha = 3;  // index of the alpha channel

/// Checks those limits of OpenCV that are not implied by the limits in settings.
void check_opencv_limits(std::span<const std::byte> file, const ImageShape& shape) {
  constexpr std::int64_t kMaxPixels = std::int64_t(1) << 30;
  if (file.size() <= INT_MAX && std::int64_t(shape.rows) * shape.cols <= kMaxPixels) return;
  throw ItemError(FailureReason::too_large,
                  "OpenCV reads files below 2 GiB with at most 2^30 pixels; "
                  "use input.decoder=strict");
}

/// Calls the function for a few rows at a time, so that intermediate results stay in the cache.
template <class Function>
void for_each_band(const cv::Mat& image, const Function& function) {
  constexpr std::size_t kBandBytes = 65536;
  const int rows = int(std::max<std::size_t>(1, kBandBytes / image.step[0]));
  for (int row = 0; row < image.rows; row += rows)
    function(image.rowRange(row, std::min(row + rows, image.rows)));
}

bool is_opaque(const cv::Mat& image) {
  const double opaque = image.depth() == CV_8U ? peak(Depth::u8) : peak(Depth::u16);
  bool all = true;
  for_each_band(image, [&](const cv::Mat& band) {
    cv::Mat alpha;
    cv::extractChannel(band, alpha, kAlpha);
    double min = 0;
    cv::minMaxLoc(alpha, &min);
    all &= min >= opaque;
  });
  return all;
}

bool has_color(const cv::Mat& image, std::span<const std::uint16_t> color) {
  cv::Scalar value;
  for (std::size_t i = 0; i < color.size(); ++i) value[int(i)] = color[i];
  bool found = false;
  for_each_band(image, [&](const cv::Mat& band) {
    cv::Mat mask;
    cv::inRange(band, value, value, mask);
    found |= cv::countNonZero(mask) > 0;
  });
  return found;
}

/// Converts gray or BGR, with or without alpha, to gray or RGB.
void convert(const cv::Mat& decoded, cv::Mat& pixels) {
  if (pixels.channels() == 1) {
    cv::extractChannel(decoded, pixels, 0);
  } else {
    cv::cvtColor(decoded, pixels, decoded.channels() == 4 ? cv::COLOR_BGRA2RGB : cv::COLOR_BGR2RGB);
  }
}

[[noreturn]] void fail_transparent() {
  throw ItemError(FailureReason::unsupported,
                  "has transparent pixels; flatten the alpha channel onto a background first");
}

/// Does not decode into the image itself, because OpenCV 4.6 would then not report an unreadable
/// header.
cv::Mat imdecode(std::span<const std::byte> file) {
  const cv::Mat bytes(1, int(file.size()), CV_8U, const_cast<std::byte*>(file.data()));
  cv::Mat decoded = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (decoded.empty()) throw ItemError(FailureReason::corrupt, "cannot be decoded by OpenCV");
  return decoded;
}

void check_shape(const cv::Mat& decoded, const cv::Mat& pixels) {
  const bool has_channels = decoded.channels() == pixels.channels() || decoded.channels() == 4;
  if (decoded.size() != pixels.size() || decoded.depth() != pixels.depth() || !has_channels)
    throw ItemError(FailureReason::corrupt, "OpenCV reads a different image from its header");
}

}  // namespace

Image decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced,
                         Deadline& deadline, std::span<const std::uint16_t> transparent_color) try {
  check_opencv_limits(file, announced);
  keep_opencv_single_threaded();
  const cv::Mat decoded = imdecode(file);
  if (deadline.passed_now()) deadline.throw_too_large();
  Image image(announced);
  cv::Mat pixels = as_mat(image);
  check_shape(decoded, pixels);
  if (decoded.channels() == 4 && !is_opaque(decoded)) fail_transparent();
  convert(decoded, pixels);
  if (!transparent_color.empty() && has_color(pixels, transparent_color)) fail_transparent();
  return image;
} catch (const cv::Exception& error) {
  if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
  throw ItemError(FailureReason::corrupt, "cannot be decoded by OpenCV: " + error.err);
}

}  // namespace eckart::io
