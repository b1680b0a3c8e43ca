#pragma once

#include <optional>

#include "codec/png/encoded_image.hpp"
#include "codec/png_parts.hpp"

namespace eckart::codec {

/// Finds the zlib stream in the IDAT chunks, whose bytes must stay. Returns nothing if only the CPU
/// decodes such a PNG: it has alpha, a palette, other than 8 bits a sample, or is interlaced; its
/// IDAT chunks are empty or very small, a chunk has a wrong CRC, or decode_with_libdeflate() does
/// not accept the size of the chunks.
std::optional<png::EncodedImage> read_encoded_png(const PngParts& parts);

}  // namespace eckart::codec
