#pragma once

// Only for the sources of modules: the program itself does not link OpenCV.
#include <mutex>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>

#include "core/image.hpp"

namespace eckart::codec {

/// Disables the threads of OpenCV, because the worker threads already use all cores. Call it before
/// the first use of OpenCV.
inline void keep_opencv_single_threaded() {
  static std::once_flag once;
  std::call_once(once, [] { cv::setNumThreads(0); });
}

/// Returns a cv::Mat that refers to the pixels of the image; owns nothing.
inline cv::Mat as_mat(const Image& image) {
  keep_opencv_single_threaded();
  const ImageShape& shape = image.shape();
  const int depth = is_float(shape.depth) ? CV_32F : shape.depth == Depth::u8 ? CV_8U : CV_16U;
  return {shape.rows, shape.cols, CV_MAKETYPE(depth, shape.channels),
          const_cast<std::byte*>(image.data())};
}

}  // namespace eckart::codec
