#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "io/deadline.hpp"

namespace eckart::io {

/// Decodes a file with cv::imdecode (IMREAD_UNCHANGED), as the image lies in it (EXIF orientation
/// not applied). Damage that OpenCV accepts is accepted. Alpha that is opaque everywhere is left
/// out. Throws ItemError: corrupt for what OpenCV refuses, or is of another shape than
/// `announced`; unsupported where a pixel is not opaque, or has the `transparent_color` (a sample
/// for each channel, or none); too_large after the deadline, at the end. Throws std::bad_alloc.
///
/// OpenCV's pixels are held beside the image: as many bytes, or those of four channels with alpha.
Image decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced,
                         Deadline& deadline, std::span<const std::uint16_t> transparent_color = {});

}  // namespace eckart::io
