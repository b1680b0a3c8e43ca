#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "io/deadline.hpp"

namespace eckart::io {

/// Pixels that may be transparent.
enum class PngAlpha { none, channel, palette };

/// What makes the pixels of a PNG. Chunks are whole: with length, type and CRC.
struct PngParts {
  ImageShape shape;           ///< without alpha
  std::size_t row_bytes = 0;  ///< inflated: all rows, of all passes, with their filter bytes
  PngAlpha alpha = PngAlpha::none;
  std::vector<std::uint16_t>
      transparent_color;  ///< samples of the pixels that are transparent, or empty
  std::span<const std::byte> ihdr;
  std::span<const std::byte> palette;       ///< PLTE, or empty
  std::span<const std::byte> transparency;  ///< tRNS, of PngAlpha::palette
  std::span<const std::byte> idat;          ///< all IDAT chunks, one after the other
};

/// Memory that the samples take while they have their alpha; 0 without.
std::size_t alpha_bytes(const ImageShape& shape, PngAlpha alpha);

/// Decodes a PNG as it lies in the file (EXIF orientation not applied). Strict: wrong checksums,
/// missing rows and bad codes throw ItemError(corrupt) with the reason. Alpha that is opaque
/// everywhere is left out; a pixel that is not opaque throws ItemError(unsupported). Throws
/// ItemError(too_large) after the deadline.
Image decode_with_spng(const PngParts& parts, Deadline& deadline);

std::string spng_version();

}  // namespace eckart::io
