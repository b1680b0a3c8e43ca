#include "io/opencv_codec.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.hpp"

namespace eckart::io {
namespace {

int cv_type(const ImageShape& shape) {
  return CV_MAKETYPE(shape.depth == Depth::u8 ? CV_8U : CV_16U, shape.channels);
}

std::vector<std::byte> imencode(const Image& image, const char* extension,
                                const std::vector<int>& parameters) {
  std::vector<uchar> file;
  try {
    cv::Mat pixels = as_mat(image);
    if (image.shape().channels == 3) {
      cv::Mat bgr;
      cv::cvtColor(pixels, bgr, cv::COLOR_RGB2BGR);
      pixels = bgr;
    }
    if (!cv::imencode(extension, pixels, file, parameters) || file.empty()) {
      throw ItemError(FailureReason::not_written, "the image cannot be encoded");
    }
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
    throw ItemError(FailureReason::not_written, "the image cannot be encoded: " + error.err);
  }
  std::vector<std::byte> bytes(file.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  return bytes;
}

}  // namespace

void keep_opencv_single_threaded() {
  static std::once_flag once;
  std::call_once(once, [] { cv::setNumThreads(0); });
}

cv::Mat as_mat(const Image& image) {
  keep_opencv_single_threaded();
  const ImageShape& shape = image.shape();
  return {shape.rows, shape.cols, cv_type(shape), const_cast<std::byte*>(image.data())};
}

std::string opencv_version() { return cv::getVersionString(); }

std::vector<std::byte> encode_png_with_opencv(const Image& image) {
  // Setting IMWRITE_PNG_COMPRESSION would reset the strategy and halve the speed.
  return imencode(image, ".png", {cv::IMWRITE_PNG_STRATEGY, cv::IMWRITE_PNG_STRATEGY_RLE});
}

std::vector<std::byte> encode_jpeg_with_opencv(const Image& image, int quality) {
  return imencode(image, ".jpg", {cv::IMWRITE_JPEG_QUALITY, quality});
}

}  // namespace eckart::io
