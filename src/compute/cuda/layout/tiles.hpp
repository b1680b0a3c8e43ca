#pragma once

#include "compute/cuda/layout/host_device.hpp"

namespace eckart::cuda {

/// A row and a column, of whatever the context says.
struct Position {
  int row, column;
};

/// Tiles of so many rows or columns that cover `side`.
ECKART_HOST_DEVICE constexpr int tiles_of(int side, int tile) { return (side + tile - 1) / tile; }

/// Where the `at`-th run of `each` neighbors begins in rows of `width`, a multiple of `each`.
ECKART_HOST_DEVICE constexpr Position run_at(int at, int width, int each) {
  return {at / (width / each), at % (width / each) * each};
}

/// Tiles on or below the diagonal of `side` x `side` of them, and where the index-th is.
constexpr int triangle_tiles(int side) { return side * (side + 1) / 2; }
ECKART_HOST_DEVICE constexpr Position triangle_tile(int index) {
  int row = 0, column = index;
  while (column > row) column -= ++row;
  return {row, column};
}

/// A block of reconstruct() or reconstruct_halves() makes a tile of so many rows and columns of
/// A_k; a plane padded to m x n has so many.
constexpr int kReconstructTile = 64;
constexpr int reconstruct_tiles(int m, int n) {
  return tiles_of(m, kReconstructTile) * tiles_of(n, kReconstructTile);
}

/// A block of project() makes so many rows of V.
constexpr int kProjectRows = 128;
constexpr int project_tiles(int n) { return tiles_of(n, kProjectRows); }

}  // namespace eckart::cuda
