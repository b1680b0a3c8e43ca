// The exported functions of libeckart_opencv.so, which is loaded when OpenCV is to decode a file.
// The libraries that cv::imdecode links, more than a hundred, take longer to load than a small run
// takes. src/codec/opencv_decoder.cpp loads it.
#include <new>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <span>
#include <string>

#include "build_id/build_id.hpp"
#include "build_id/module_export.hpp"
#include "codec/opencv_mat.hpp"
#include "core/picture.hpp"

namespace eckart::codec {
namespace {

constexpr int kAlpha = 3;  // index of the alpha channel

/// Converts gray or BGR, with or without alpha, to gray or RGB.
void convert(const cv::Mat& decoded, cv::Mat& pixels) {
  if (pixels.channels() == 1) {
    cv::extractChannel(decoded, pixels, 0);
  } else {
    cv::cvtColor(decoded, pixels, decoded.channels() == 4 ? cv::COLOR_BGRA2RGB : cv::COLOR_BGR2RGB);
  }
}

bool have_same_shape(const cv::Mat& decoded, const cv::Mat& pixels) {
  const bool has_channels = decoded.channels() == pixels.channels() || decoded.channels() == 4;
  return decoded.size() == pixels.size() && decoded.depth() == pixels.depth() && has_channels;
}

/// Does not decode into the image itself, because OpenCV 4.6 would then not report an unreadable
/// header. Returns why the file is corrupt; empty if it is not.
std::string decode(std::span<const std::byte> file, const ImageShape& announced, Picture& picture) {
  keep_opencv_single_threaded();
  const cv::Mat bytes(1, int(file.size()), CV_8U, const_cast<std::byte*>(file.data()));
  const cv::Mat decoded = cv::imdecode(bytes, cv::IMREAD_UNCHANGED);
  if (decoded.empty()) return "cannot be decoded by OpenCV";
  picture.pixels = Image(announced);
  cv::Mat pixels = as_mat(picture.pixels);
  if (!have_same_shape(decoded, pixels)) return "OpenCV reads a different image from its header";
  convert(decoded, pixels);
  if (decoded.channels() != 4) return {};
  picture.alpha = Image({announced.rows, announced.cols, 1, announced.depth});
  cv::Mat alpha = as_mat(picture.alpha);
  cv::extractChannel(decoded, alpha, kAlpha);
  return {};
}

}  // namespace
}  // namespace eckart::codec

ECKART_MODULE_EXPORT const char* eckart_opencv_build_id() { return eckart::build_id(); }

/// `error` says why the file is corrupt; empty if it is not. Throws std::bad_alloc.
ECKART_MODULE_EXPORT void eckart_opencv_decode(std::span<const std::byte> file,
                                               const eckart::ImageShape& announced,
                                               eckart::Picture& picture, std::string& error) try {
  error = eckart::codec::decode(file, announced, picture);
} catch (const cv::Exception& failure) {
  if (failure.code == cv::Error::StsNoMem) throw std::bad_alloc();
  error = "cannot be decoded by OpenCV: " + failure.err;
}
