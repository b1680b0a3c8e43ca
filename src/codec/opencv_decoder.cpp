#include "codec/opencv_decoder.hpp"

#include <algorithm>
#include <climits>
#include <new>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>

#include "build_id/module.hpp"
#include "codec/alpha.hpp"
#include "codec/opencv_codec.hpp"
#include "core/error.hpp"

namespace eckart::codec {
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

/// Returns the alpha of BGRA, or of a transparent color; empty if there is none.
Image alpha_of(const cv::Mat& decoded, const cv::Mat& pixels, const ImageShape& shape,
               std::span<const std::uint16_t> transparent_color) {
  if (decoded.channels() != 4 && transparent_color.empty()) return {};
  Image image(alpha_shape(shape));
  cv::Mat alpha = as_mat(image);
  if (decoded.channels() == 4) {
    cv::extractChannel(decoded, alpha, kAlpha);
    return image;
  }
  cv::Scalar color;
  for (std::size_t i = 0; i < transparent_color.size(); ++i) color[int(i)] = transparent_color[i];
  cv::Mat is_transparent;
  cv::inRange(pixels, color, color, is_transparent);
  alpha.setTo(peak(shape.depth));
  alpha.setTo(0, is_transparent);
  return image;
}

/// Converts gray or BGR, with or without alpha, to gray or RGB.
void convert(const cv::Mat& decoded, cv::Mat& pixels) {
  if (pixels.channels() == 1) {
    cv::extractChannel(decoded, pixels, 0);
  } else {
    cv::cvtColor(decoded, pixels, decoded.channels() == 4 ? cv::COLOR_BGRA2RGB : cv::COLOR_BGR2RGB);
  }
}

using Decode = void (*)(const cv::Mat& file, cv::Mat& decoded);

Decode load_decode() try {
  return reinterpret_cast<Decode>(load_function("eckart_opencv", "eckart_opencv_decode"));
} catch (const std::runtime_error& error) {
  throw FatalError(ExitCode::unavailable,
                   std::string("input.decoder=opencv is not available: ") + error.what());
}

/// Does not decode into the image itself, because OpenCV 4.6 would then not report an unreadable
/// header.
cv::Mat imdecode(std::span<const std::byte> file) {
  const cv::Mat bytes(1, int(file.size()), CV_8U, const_cast<std::byte*>(file.data()));
  static const Decode decode = load_decode();
  cv::Mat decoded;
  decode(bytes, decoded);
  if (decoded.empty()) throw ItemError(FailureReason::corrupt, "cannot be decoded by OpenCV");
  return decoded;
}

void check_shape(const cv::Mat& decoded, const cv::Mat& pixels) {
  const bool has_channels = decoded.channels() == pixels.channels() || decoded.channels() == 4;
  if (decoded.size() != pixels.size() || decoded.depth() != pixels.depth() || !has_channels)
    throw ItemError(FailureReason::corrupt, "OpenCV reads a different image from its header");
}

}  // namespace

Picture decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced,
                           Deadline& deadline,
                           std::span<const std::uint16_t> transparent_color) try {
  check_opencv_limits(file, announced);
  keep_opencv_single_threaded();
  const cv::Mat decoded = imdecode(file);
  if (deadline.passed_now()) deadline.throw_too_large();
  Picture picture{Image(announced), {}, {}};
  cv::Mat pixels = as_mat(picture.pixels);
  check_shape(decoded, pixels);
  convert(decoded, pixels);
  picture.alpha = alpha_of(decoded, pixels, announced, transparent_color);
  return picture;
} catch (const cv::Exception& error) {
  if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
  throw ItemError(FailureReason::corrupt, "cannot be decoded by OpenCV: " + error.err);
}

}  // namespace eckart::codec
