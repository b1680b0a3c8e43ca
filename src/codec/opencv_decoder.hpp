#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "codec/deadline.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Decodes a file with cv::imdecode (IMREAD_UNCHANGED), without applying EXIF orientation. Damage
/// that OpenCV accepts is accepted. Alpha is returned even if it is opaque. `transparent_color` has
/// one sample per channel, or is empty; pixels of this color get an alpha of 0. The picture has no
/// metadata. Throws ItemError: corrupt if OpenCV rejects the file or reads a shape other than
/// `announced`; too_large, at the end, after the deadline. Throws std::bad_alloc, and
/// FatalError(unavailable) if the module eckart_opencv cannot be loaded.
///
/// The pixels of OpenCV are in memory beside the picture: the same number of bytes, or four
/// channels if there is alpha.
Picture decode_with_opencv(std::span<const std::byte> file, const ImageShape& announced,
                           Deadline& deadline,
                           std::span<const std::uint16_t> transparent_color = {});

/// Of the OpenCV that the program was built with.
std::string opencv_version();

}  // namespace eckart::codec
