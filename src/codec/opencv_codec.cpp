#include "codec/opencv_codec.hpp"

#include <mutex>
#include <opencv2/core/utility.hpp>

namespace eckart::codec {
namespace {

int cv_type(const ImageShape& shape) {
  return CV_MAKETYPE(is_float(shape.depth)      ? CV_32F
                     : shape.depth == Depth::u8 ? CV_8U
                                                : CV_16U,
                     shape.channels);
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

}  // namespace eckart::codec
