#pragma once

#include "compute/cuda/layout/tiles.hpp"

// Which matrix elements each lane of a warp passes to the tensor cores, and receives from them. g =
// lane / 4 and t = lane % 4 are groupID and threadID_in_group of the PTX manual.

namespace eckart::compute::cuda::tensor_core {

/// The position of the eight elements whose address a lane passes to ldmatrix (.x4). The four 8 x 8
/// matrices are then the quarters of 16 x 16 elements in the order top left, bottom left, top
/// right, bottom right.
ECKART_HOST_DEVICE constexpr Position ldmatrix_column_order(int lane) {
  return {lane % 16, 8 * (lane / 16)};
}
/// The same in the order top left, top right, bottom left, bottom right.
ECKART_HOST_DEVICE constexpr Position ldmatrix_row_order(int lane) {
  return {lane % 8 + 8 * (lane / 16), 8 * (lane / 8 % 2)};
}

/// The position of a lane's element e in a product of mma (four elements; two in float64).
ECKART_HOST_DEVICE constexpr Position product_element(int lane, int e) {
  return {lane / 4 + e / 2 * 8, lane % 4 * 2 + e % 2};
}

/// The position of a warp's 32 x 32 elements in a tile that is `warps_per_row` warps wide.
ECKART_HOST_DEVICE constexpr Position warp_tile(int warp, int warps_per_row) {
  return {warp / warps_per_row * 32, warp % warps_per_row * 32};
}

}  // namespace eckart::compute::cuda::tensor_core
