#pragma once

#include "compute/cuda/layout/tiles.hpp"

// Where the lanes of a warp find and leave their shares of what the tensor cores multiply. Within a
// warp, g = lane / 4 and t = lane % 4 are the PTX manual's groupID and threadID_in_group.

namespace eckart::cuda::tensor_core {

/// Where the eight elements begin whose address a lane gives to ldmatrix (.x4), so that its four
/// 8 x 8 matrices are the quarters of 16 x 16 elements: top left, bottom left, top right, bottom
/// right.
ECKART_HOST_DEVICE constexpr Position ldmatrix_column_order(int lane) {
  return {lane % 16, 8 * (lane / 16)};
}
/// The same: top left, top right, bottom left, bottom right.
ECKART_HOST_DEVICE constexpr Position ldmatrix_row_order(int lane) {
  return {lane % 8 + 8 * (lane / 16), 8 * (lane / 8 % 2)};
}

/// Element e of a lane's four (two in float64) of a product of mma.
ECKART_HOST_DEVICE constexpr Position product_element(int lane, int e) {
  return {lane / 4 + e / 2 * 8, lane % 4 * 2 + e % 2};
}

/// Where a warp's 32 x 32 elements begin in a tile that is so many warps wide.
ECKART_HOST_DEVICE constexpr Position warp_tile(int warp, int warps_per_row) {
  return {warp / warps_per_row * 32, warp % warps_per_row * 32};
}

}  // namespace eckart::cuda::tensor_core
