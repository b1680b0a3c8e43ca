#pragma once

#include <cstddef>

#include "compute/cuda/layout/plane_layout.hpp"
#include "core/image.hpp"

namespace eckart::cuda {

/// Bytes that an image takes in the packed pixels of a slot: the next one begins aligned to 16, so
/// that samples of two bytes are aligned, and loads of words may be.
inline std::size_t packed_bytes(const ImageShape& shape) {
  constexpr std::size_t kImageAlignment = 16;
  return (shape.bytes() + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
}

/// A channel of an image that begins at this offset.
inline PlaneLayout packed_plane(const ImageShape& shape, std::size_t offset_bytes, int channel) {
  return {std::int64_t(offset_bytes),
          shape.rows,
          shape.cols,
          shape.channels,
          channel,
          int(shape.depth)};
}

/// Errors of tiles: those of a plane together, plane after plane, for each rank in turn.
struct TileErrorLayout {
  std::size_t padded_planes;  ///< planes
  std::size_t tiles;          ///< a plane
  std::size_t first(std::size_t plane_index, std::size_t rank_index) const {
    return (rank_index * padded_planes + plane_index) * tiles;
  }
  std::size_t count(std::size_t ranks) const { return first(0, ranks); }
};

/// Values, of any solver, of a plane with so many columns: as many refined ones as others, and
/// ranks rounded up to 16.
constexpr std::size_t max_values_per_plane(int columns) {
  constexpr int kMaxAlignment = 16;
  return 2 * std::size_t(columns + kMaxAlignment);
}

}  // namespace eckart::cuda
