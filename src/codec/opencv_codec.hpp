#pragma once

#include <opencv2/core.hpp>
#include <string>

#include "core/image.hpp"

namespace eckart::codec {

/// Disables the threads of OpenCV, because the worker threads already use all cores. Call it before
/// the first use of OpenCV.
void keep_opencv_single_threaded();

/// Returns a cv::Mat that refers to the pixels of the image; owns nothing.
cv::Mat as_mat(const Image& image);

std::string opencv_version();

}  // namespace eckart::codec
