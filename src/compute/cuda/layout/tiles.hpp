#pragma once

#include "compute/cuda/layout/host_device.hpp"

namespace eckart::cuda {

/// A row and a column, of whatever the context says.
struct Position {
  int row, column;
};

/// Tiles of so many rows or columns that cover `side`.
ECKART_HOST_DEVICE constexpr int tile_count(int side, int tile) { return (side + tile - 1) / tile; }

/// Where the `at`-th run of `each` neighbors begins in rows of `width`, a multiple of `each`.
ECKART_HOST_DEVICE constexpr Position run_position(int index, int width, int run_length) {
  return {index / (width / run_length), index % (width / run_length) * run_length};
}

/// Tiles on or below the diagonal of `side` x `side` of them, and where the index-th is.
constexpr int triangle_tile_count(int side) { return side * (side + 1) / 2; }
ECKART_HOST_DEVICE constexpr Position triangle_tile(int index) {
  int row = 0, column = index;
  while (column > row) column -= ++row;
  return {row, column};
}

/// A block of reconstruct() or reconstruct_float16() makes a tile of so many rows and columns of
/// A_k; a plane padded to m x n has so many.
constexpr int kReconstructTile = 64;
constexpr int reconstruct_tile_count(int m, int n) {
  return tile_count(m, kReconstructTile) * tile_count(n, kReconstructTile);
}

/// A block of project() makes so many rows of V.
constexpr int kProjectRows = 128;
constexpr int project_tile_count(int n) { return tile_count(n, kProjectRows); }

}  // namespace eckart::cuda
