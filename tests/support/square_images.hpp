#pragma once

#include <filesystem>
#include <opencv2/core.hpp>
#include <vector>

#include "core/image.hpp"

namespace eckart::test {

/// The first channel of every image below a folder, in the order of their names.
std::vector<cv::Mat> read_planes(const std::filesystem::path& folder);

/// `count` different gray images of side x side: crops at different places of photographs or, where
/// these are too small, of mosaics of them; planes of less than 256 a side are resized and, from
/// the second time round, shifted. Of 16 bits they are a little blurred, which fills the low bits.
std::vector<Image> make_square_images(const std::vector<cv::Mat>& planes, int side, int count,
                                      Depth depth = Depth::u8);

}  // namespace eckart::test
