#pragma once

#include <cstddef>
#include <span>

#include "core/picture.hpp"

namespace eckart::io {

constexpr int kNormalOrientation = 1;
constexpr int kLastUntransposedOrientation = 4;  ///< larger ones exchange rows and cols

/// Returns the orientation, 1 to 8, from EXIF data (a TIFF header and what follows it): the value
/// of tag 0x0112. Returns kNormalOrientation if the data is invalid or has no valid orientation.
int exif_orientation(std::span<const std::byte> tiff);

/// Rotates and mirrors the image so that it is upright. Orientations 5 to 8 exchange rows and cols.
Image apply_orientation(Image image, int orientation);
/// The same for pixels and alpha.
Picture apply_orientation(Picture picture, int orientation);

}  // namespace eckart::io
