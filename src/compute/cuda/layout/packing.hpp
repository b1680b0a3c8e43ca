#pragma once

#include <cstddef>

#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/quads.hpp"
#include "core/image.hpp"
#include "core/round_up.hpp"

namespace eckart::compute::cuda {

/// The bytes of an image in the packed pixels of a slot. Each image begins aligned to 16 bytes, so
/// that four samples can be loaded at once.
inline std::size_t packed_bytes(const ImageShape& shape) {
  constexpr std::size_t kImageAlignment = 16;
  static_assert(kImageAlignment % (kQuadSamples * sizeof(float)) == 0);
  return round_up(shape.bytes(), kImageAlignment);
}

/// The largest number of planes of an image.
constexpr int kMaxImagePlanes = 3;

/// The layout of one channel of an image that begins at `offset_bytes`. See PlaneLayout::scale.
inline PlaneLayout packed_plane(const ImageShape& shape, std::size_t offset_bytes, int channel,
                                double scale = 1) {
  return {std::int64_t(offset_bytes), shape.rows, shape.cols, shape.channels, channel,
          int(shape.depth),           scale};
}

/// Order of the tile errors: rank-major, then planes, then the tiles of a plane.
struct TileErrorLayout {
  std::size_t padded_planes;  ///< planes of the batch, with padding
  std::size_t tiles;          ///< per plane
  std::size_t first(std::size_t plane_index, std::size_t rank_index) const {
    return (rank_index * padded_planes + plane_index) * tiles;
  }
  std::size_t count(std::size_t ranks) const { return first(0, ranks); }
};

/// The largest number of values that any solver writes for a plane with `columns` columns: as many
/// Rayleigh quotients as Ritz values, with ranks rounded up to 16.
constexpr std::size_t max_values_per_plane(int columns) {
  constexpr int kMaxAlignment = 16;
  return 2 * std::size_t(columns + kMaxAlignment);
}

}  // namespace eckart::compute::cuda
