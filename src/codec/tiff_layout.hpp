#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/orientation.hpp"
#include "codec/tiff_file.hpp"
#include "core/image.hpp"

namespace eckart::codec {

/// The meaning of the sample after the colors.
enum class TiffAlpha { none, unassociated, associated };

/// How the pixels of a page are stored.
struct TiffLayout {
  ImageShape shape;  ///< without alpha
  int bits = 0;      ///< per sample: 1, 2, 4, 8, 16, or 32 for floats
  TiffAlpha alpha = TiffAlpha::none;
  bool is_planar = false;                            ///< each channel is stored by itself
  bool is_inverted = false;                          ///< 0 is white
  std::vector<std::array<std::uint8_t, 3>> palette;  ///< red, green, blue; empty: none
  int tile_rows = 0, tile_cols = 0;                  ///< 0: stored in strips
  std::size_t chunk_bytes = 0;                       ///< of a row or a tile
  std::size_t table_bytes = 0;                       ///< of libtiff's table of offsets and sizes
  int orientation = kNormalOrientation;

  /// Samples per pixel in the file.
  int samples() const {
    return (palette.empty() ? shape.channels : 1) + (alpha == TiffAlpha::none ? 0 : 1);
  }
};

/// Reads the directory of the first page, and counts the others. Throws ItemError: unsupported,
/// with the number of pages if there is more than one; corrupt.
TiffLayout read_tiff_layout(TiffFile& tiff);

}  // namespace eckart::codec
