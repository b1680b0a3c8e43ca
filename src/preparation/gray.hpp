#pragma once

#include "core/image.hpp"

namespace eckart::preparation {

/// Converts RGB to gray: 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), with weights of 16 binary
/// digits, rounded to the nearest integer; floats in float64. The result for 8 bits equals that of
/// Image.convert("L") of Pillow. A gray image is returned as it is.
Image to_gray(Image image);
/// The same for a const image, which must be RGB.
Image gray_of(const Image& rgb);
/// The same in the shape and the levels of the matrix of ColorMode::luma, see matrices_scale(): of
/// 8 bits, it is rounded to 1/256 of a level.
Image luma_of(const Image& rgb);

}  // namespace eckart::preparation
