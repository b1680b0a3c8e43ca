#pragma once

#include <cstddef>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace eckart::io {

/// Our workers are the parallelism: OpenCV's own threads would only fight with them. To be called
/// before it is used.
void keep_opencv_single_threaded();

/// The image as OpenCV sees it; owns nothing.
cv::Mat as_mat(const Image& image);

/// Throw ItemError(not_written).
std::vector<std::byte> encode_png_with_opencv(const Image& image);
std::vector<std::byte> encode_jpeg_with_opencv(const Image& image, int quality);

std::string opencv_version();

}  // namespace eckart::io
