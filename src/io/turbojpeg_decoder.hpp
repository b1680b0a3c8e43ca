#pragma once

#include <cstddef>
#include <span>

#include "core/image.hpp"

namespace eckart::io {

/// Decodes a JPEG of that shape, as it lies in the file (EXIF orientation not applied). Strict:
/// what libjpeg would only warn of (data that end early, bad codes) throws ItemError(corrupt) with
/// its words, as do more than 500 scans.
Image decode_with_turbojpeg(std::span<const std::byte> file, const ImageShape& announced);

}  // namespace eckart::io
