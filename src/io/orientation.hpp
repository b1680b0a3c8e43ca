#pragma once

#include <cstddef>
#include <span>

#include "core/image.hpp"

namespace eckart::io {

constexpr int kNormalOrientation = 1;

/// How an image lies in its file: the value of EXIF's tag 0x0112, 1 to 8, in EXIF data (a TIFF
/// header and what follows it). kNormalOrientation where these say nothing sensible.
int exif_orientation(std::span<const std::byte> tiff);

/// The image turned and mirrored so that it stands upright; 5 to 8 exchange rows and cols.
Image apply_orientation(Image image, int orientation);

}  // namespace eckart::io
