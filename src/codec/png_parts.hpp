#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"

namespace eckart::codec {

/// The source of transparency of pixels.
enum class PngAlpha { none, channel, palette };

/// The parts of a PNG that determine its pixels. Chunks include length, type and CRC.
struct PngParts {
  ImageShape shape;           ///< without alpha
  std::size_t row_bytes = 0;  ///< inflated size: all rows of all passes, with their filter bytes
  std::size_t pixel_bytes =
      0;  ///< in the rows, with alpha; 0 if PngIhdr::has_whole_samples() is not true
  PngAlpha alpha = PngAlpha::none;
  std::vector<std::uint16_t> transparent_color;  ///< samples of the transparent color, or empty
  std::span<const std::byte> ihdr;
  std::span<const std::byte> palette;       ///< PLTE, or empty
  std::span<const std::byte> transparency;  ///< tRNS, of PngAlpha::palette
  std::span<const std::byte> idat;          ///< all IDAT chunks, contiguous

  bool has_alpha() const { return alpha != PngAlpha::none || !transparent_color.empty(); }
};

}  // namespace eckart::codec
