#pragma once

#include <filesystem>
#include <opencv2/core.hpp>
#include <vector>

#include "core/image.hpp"

namespace eckart::test {

/// Reads the first channel of every image below a folder, sorted by path.
std::vector<cv::Mat> read_planes(const std::filesystem::path& folder);

/// Makes `count` different gray images of side x side. Photographs are cropped at different
/// positions, from a mosaic if they are too small. Planes with a side below 256 are resized, and
/// shifted when they are used again. 16-bit images are slightly blurred, to fill the low bits.
std::vector<Image> make_square_images(const std::vector<cv::Mat>& planes, int side, int count,
                                      Depth depth = Depth::u8);

}  // namespace eckart::test
