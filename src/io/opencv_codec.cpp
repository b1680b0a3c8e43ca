#include "io/opencv_codec.hpp"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "core/error.hpp"
#include "io/codec.hpp"

namespace eckart::io {
namespace {

// OpenCV takes 2^30 pixels, and libpng sides of 1,000,000; both are built in.
constexpr int kMaxSide = 1'000'000;
constexpr std::int64_t kMaxPixels = std::int64_t(1) << 30;

/// Our workers are the parallelism: OpenCV's own threads would only fight with them.
void keep_opencv_single_threaded() {
  static std::once_flag once;
  std::call_once(once, [] { cv::setNumThreads(0); });
}

int cv_type(const ImageShape& shape) {
  return CV_MAKETYPE(shape.depth == Depth::u8 ? CV_8U : CV_16U, shape.channels);
}

/// The image as OpenCV sees it; owns nothing.
cv::Mat as_mat(const Image& image) {
  const ImageShape& shape = image.shape();
  return {shape.rows, shape.cols, cv_type(shape), const_cast<std::byte*>(image.data())};
}

[[noreturn]] void rethrow(const cv::Exception& error, Reason reason, const std::string& what) {
  if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
  throw ItemError(reason, what + ": " + error.err);
}

void check_opencv_takes(std::span<const std::byte> file, const ImageShape& shape) {
  if (std::max(shape.rows, shape.cols) > kMaxSide ||
      std::int64_t(shape.rows) * shape.cols > kMaxPixels || file.size() > INT_MAX) {
    throw ItemError(
        Reason::too_large,
        "the decoder takes at most 1000000 pixels a side, 2^30 pixels and 2 GiB a file");
  }
}

cv::Mat imdecode(std::span<const std::byte> file) {
  const cv::Mat bytes(1, int(file.size()), CV_8U, const_cast<std::byte*>(file.data()));
  try {
    return cv::imdecode(bytes, cv::IMREAD_ANYDEPTH | cv::IMREAD_ANYCOLOR);
  } catch (const cv::Exception& error) {
    rethrow(error, Reason::corrupt, "does not decode");
  }
}

void check_as_announced(const cv::Mat& decoded, const ImageShape& announced) {
  if (decoded.empty()) throw ItemError(Reason::corrupt, "does not decode: truncated or damaged");
  const bool size = decoded.rows == announced.rows && decoded.cols == announced.cols;
  const bool turned = decoded.rows == announced.cols && decoded.cols == announced.rows;
  if (decoded.type() != cv_type(announced) || !(size || turned)) {
    throw ItemError(Reason::corrupt, "does not decode to what its header announces");
  }
}

std::vector<std::byte> imencode(const Image& image, const char* extension,
                                const std::vector<int>& parameters) {
  keep_opencv_single_threaded();
  std::vector<uchar> file;
  try {
    cv::Mat pixels = as_mat(image);
    if (image.shape().channels == 3) {
      cv::Mat bgr;
      cv::cvtColor(pixels, bgr, cv::COLOR_RGB2BGR);
      pixels = bgr;
    }
    if (!cv::imencode(extension, pixels, file, parameters) || file.empty()) {
      throw ItemError(Reason::not_written, "the image does not encode");
    }
  } catch (const cv::Exception& error) {
    rethrow(error, Reason::not_written, "the image does not encode");
  }
  std::vector<std::byte> bytes(file.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  return bytes;
}

}  // namespace

std::string decoder_version() { return cv::getVersionString(); }

Image decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced) {
  check_opencv_takes(file, announced);
  keep_opencv_single_threaded();
  const cv::Mat decoded = imdecode(file);
  check_as_announced(decoded, announced);
  Image image({decoded.rows, decoded.cols, announced.channels, announced.depth});
  cv::Mat pixels = as_mat(image);
  if (announced.channels == 3) {
    cv::cvtColor(decoded, pixels, cv::COLOR_BGR2RGB);
  } else {
    decoded.copyTo(pixels);
  }
  return image;
}

std::vector<std::byte> encode_png_with_opencv(const Image& image) {
  // IMWRITE_PNG_COMPRESSION would reset the strategy, and halve the speed.
  return imencode(image, ".png", {cv::IMWRITE_PNG_STRATEGY, cv::IMWRITE_PNG_STRATEGY_RLE});
}

std::vector<std::byte> encode_jpeg_with_opencv(const Image& image, int quality) {
  return imencode(image, ".jpg", {cv::IMWRITE_JPEG_QUALITY, quality});
}

}  // namespace eckart::io
