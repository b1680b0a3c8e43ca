#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codec/deadline.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The source of transparency of pixels.
enum class PngAlpha { none, channel, palette };

/// The parts of a PNG that determine its pixels. Chunks include length, type and CRC.
struct PngParts {
  ImageShape shape;           ///< without alpha
  std::size_t row_bytes = 0;  ///< inflated size: all rows of all passes, with their filter bytes
  PngAlpha alpha = PngAlpha::none;
  std::vector<std::uint16_t> transparent_color;  ///< samples of the transparent color, or empty
  std::span<const std::byte> ihdr;
  std::span<const std::byte> palette;       ///< PLTE, or empty
  std::span<const std::byte> transparency;  ///< tRNS, of PngAlpha::palette
  std::span<const std::byte> idat;          ///< all IDAT chunks, contiguous
};

/// Returns the memory of the samples while alpha is between them; 0 if it never is.
std::size_t interleaved_bytes(const ImageShape& shape, PngAlpha alpha);

/// Decodes a PNG without applying EXIF orientation. Strict: wrong checksums, missing rows and bad
/// codes throw ItemError(corrupt) with the reason. Alpha is returned even if it is opaque. The
/// picture has no metadata. Throws ItemError(too_large) after the deadline.
Picture decode_with_spng(const PngParts& parts, Deadline& deadline);

std::string spng_version();

}  // namespace eckart::codec
