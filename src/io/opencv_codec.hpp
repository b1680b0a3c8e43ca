#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/image.hpp"

namespace eckart::io {

/// Decodes a file that OpenCV recognises by its first bytes, upright. Throws ItemError: corrupt,
/// also when the pixels are not those that the header announced (rows and cols may be swapped), or
/// too_large, over what OpenCV takes.
Image decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced);

/// Throw ItemError(not_written).
std::vector<std::byte> encode_png_with_opencv(const Image& image);
std::vector<std::byte> encode_jpeg_with_opencv(const Image& image, int quality);

}  // namespace eckart::io
