#pragma once

#include <cstddef>
#include <string>

#include "codec/deadline.hpp"
#include "codec/png_parts.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Returns the memory of the samples while alpha is between them; 0 if it never is.
std::size_t interleaved_bytes(const ImageShape& shape, PngAlpha alpha);

/// Decodes a PNG without applying EXIF orientation. Strict: wrong checksums, missing rows and bad
/// codes throw ItemError(corrupt) with the reason. Alpha is returned even if it is opaque. The
/// picture has no metadata. Throws ItemError(too_large) after the deadline.
Picture decode_with_spng(const PngParts& parts, Deadline& deadline);

std::string spng_version();

}  // namespace eckart::codec
