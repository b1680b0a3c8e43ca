#pragma once

#include "compute/cuda/layout/host_device.hpp"

namespace eckart::compute::cuda {

/// A row and a column of a matrix, tile or image.
struct Position {
  int row, column;
};

/// The number of tiles of size `tile` that cover `side`.
ECKART_HOST_DEVICE constexpr int tile_count(int side, int tile) { return (side + tile - 1) / tile; }

/// The position of run `index`, if rows of `width` elements are divided into runs of `run_length`
/// neighbors. `width` must be a multiple of `run_length`.
ECKART_HOST_DEVICE constexpr Position run_position(int index, int width, int run_length) {
  return {index / (width / run_length), index % (width / run_length) * run_length};
}

/// The number of tiles on or below the diagonal of `side` x `side` tiles, and the position of the
/// index-th.
constexpr int triangle_tile_count(int side) { return side * (side + 1) / 2; }
ECKART_HOST_DEVICE constexpr Position triangle_tile(int index) {
  int row = 0, column = index;
  while (column > row) column -= ++row;
  return {row, column};
}

/// A block of reconstruct() or reconstruct_float16() computes a tile of kReconstructTile x
/// kReconstructTile elements of A_k. reconstruct_tile_count() is the number of tiles of a plane
/// padded to m x n.
constexpr int kReconstructTile = 64;
constexpr int reconstruct_tile_count(int m, int n) {
  return tile_count(m, kReconstructTile) * tile_count(n, kReconstructTile);
}

/// A block of project() computes kProjectRows rows of V.
constexpr int kProjectRows = 128;
constexpr int project_tile_count(int n) { return tile_count(n, kProjectRows); }

}  // namespace eckart::compute::cuda
