#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/image.hpp"

namespace eckart::io {

/// Decodes a PNG of that shape, as it lies in the file (EXIF orientation not applied). Strict:
/// wrong checksums in what makes the pixels, missing rows and bad codes throw ItemError(corrupt)
/// with the reason; of chunks that are not needed wrong ones are passed over.
Image decode_with_spng(std::span<const std::byte> file, const ImageShape& announced);

std::string spng_version();

}  // namespace eckart::io
