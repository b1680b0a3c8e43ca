#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "codec/png_chunk_reader.hpp"
#include "core/image.hpp"

namespace eckart::codec {

/// Codes of color types. ISO/IEC 15948:2003, 11.2.2.
struct PngColorType {
  enum { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };
};

/// The contents of IHDR.
struct PngIhdr {
  int rows = 0, cols = 0, bits = 0, color_type = 0;
  bool interlaced = false;

  bool has_alpha() const {
    return color_type == PngColorType::kGrayAlpha || color_type == PngColorType::kRgbAlpha;
  }
  /// Returns whether the rows consist of the samples of the image, each of one or two bytes.
  bool has_whole_samples() const {
    return bits >= 8 && color_type != PngColorType::kPalette && !interlaced;
  }
  /// Returns the number of channels in the file, including alpha.
  int channels() const {
    constexpr std::array<int, 7> kChannels{1, 0, 3, 1, 2, 0, 4};  // by color type
    return kChannels[std::size_t(color_type)];
  }
  /// Returns the bytes of a pixel in the rows. Requires at least 8 bits.
  std::size_t pixel_bytes() const { return std::size_t(channels()) * std::size_t(bits) / 8; }
  ImageShape shape() const {
    const bool gray = color_type == PngColorType::kGray || color_type == PngColorType::kGrayAlpha;
    return {rows, cols, gray ? 1 : 3, bits == 16 ? Depth::u16 : Depth::u8};
  }
};

/// `data`: of the chunk. Throws ItemError(corrupt).
PngIhdr parse_png_ihdr(const PngChunk& chunk, std::span<const std::byte> data);

/// Returns the inflated size of all rows with their filter bytes.
std::size_t png_row_bytes(const PngIhdr& ihdr);

}  // namespace eckart::codec
