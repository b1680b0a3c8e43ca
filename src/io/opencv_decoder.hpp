#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "io/deadline.hpp"

namespace eckart::io {

/// Decodes a file with cv::imdecode (IMREAD_UNCHANGED), without applying EXIF orientation. Damage
/// that OpenCV accepts is accepted. Alpha that is opaque everywhere is dropped. `transparent_color`
/// has one sample per channel, or is empty. Throws ItemError: corrupt if OpenCV rejects the file or
/// reads a shape other than `announced`; unsupported if a pixel is not opaque or has the
/// `transparent_color`; too_large, at the end, after the deadline. Throws std::bad_alloc.
///
/// The pixels of OpenCV are in memory beside the image: the same number of bytes, or four channels
/// if there is alpha.
Image decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced,
                         Deadline& deadline, std::span<const std::uint16_t> transparent_color = {});

}  // namespace eckart::io
