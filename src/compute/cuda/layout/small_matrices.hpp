#pragma once

#include <algorithm>
#include <cstddef>

#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {

// Symmetric matrices, one block of kSide x kSide threads each. Thread (x, y) holds elements (y +
// kSide a, x + kSide b), a, b < order_tiles(l).
constexpr int kSide = 16;
constexpr int kMaxOrderTiles = 12;  // limited by the shared memory of small_svd()
constexpr int kMaxSmallOrder = kSide * kMaxOrderTiles;  // the largest order

/// The rows, and columns, of elements per thread for a matrix of order l.
constexpr int order_tiles(int l) { return tile_count(l, kSide); }

/// The largest order, a multiple of kSide, for which bytes(order) is at most `limit`. bytes() must
/// not decrease.
template <class Bytes>
int largest_order(int limit, const Bytes& bytes) {
  int l = 0;
  for (int next = kSide; next <= kMaxSmallOrder; next += kSide) {
    if (bytes(next) <= limit) l = next;
  }
  return l;
}

// One-sided Jacobi. A group of kJacobiLanes threads holds kJacobiColumns columns in registers. In
// each step it passes two of them to a neighboring group.
constexpr int kJacobiLanes = 8;
constexpr int kJacobiColumns = 4;

/// Threads for order 16 `tiles`.
constexpr int jacobi_threads(int tiles) { return 16 * tiles / kJacobiColumns * kJacobiLanes; }
/// The registers that a thread of the Jacobi kernel needs for order 16 `tiles`: its elements of
/// four columns, and kOther for everything else.
constexpr int jacobi_registers(int tiles) {
  constexpr int kOther = 64;
  return 2 * kJacobiColumns * tiles + kOther;
}
/// Resident blocks per multiprocessor, limited by its registers and by the smallest maximum of all
/// supported GPUs.
constexpr int jacobi_blocks(int tiles) {
  constexpr int kRegisters = 65536, kMaxResidentBlocks = 16;
  return std::clamp(kRegisters / (jacobi_threads(tiles) * jacobi_registers(tiles)), 1,
                    kMaxResidentBlocks);
}
/// The first of the e-th pair of neighboring rows that a lane holds of its group's columns.
ECKART_HOST_DEVICE constexpr int jacobi_row(int lane, int e) {
  return 2 * (lane + kJacobiLanes * e);
}
/// The group from which `group` receives a pair of columns, when each of `groups` groups in a ring
/// passes its pair `step` groups further.
ECKART_HOST_DEVICE constexpr int ring_source(int group, int step, int groups) {
  return (group - step + groups) % groups;
}

/// Shared memory of a block of rotate(), in float16 numbers: hi and lo of kRotateColumns columns of
/// M, [column][k], followed by hi and lo of kRotateRows rows of the other factor, [k][row].
constexpr int kRotateRows = 128;
constexpr int kRotateColumns = 64;
struct RotateShared {
  static constexpr int kPad = 8;  // puts the rows of an 8 x 8 matrix in different banks
  static constexpr int kRowStride = kRotateRows + kPad;

  ECKART_HOST_DEVICE constexpr explicit RotateShared(int depth)
      : m_stride(depth + kPad),
        m_count(kRotateColumns * m_stride),
        rows_count(depth * kRowStride) {}
  int m_stride;
  int m_count, rows_count;  ///< elements of hi, or lo, of M and of the rows
  constexpr int count() const { return 2 * (m_count + rows_count); }
};

/// The rows of M that affect kRotateColumns columns from `column0` on.
ECKART_HOST_DEVICE inline int rotate_depth(int l, int column0, bool is_upper) {
  return is_upper ? smaller(l, column0 + kRotateColumns) : l;
}

/// Shared memory of a block of rotate() or rotate_split(), in bytes.
constexpr std::size_t rotate_shared_bytes(int l) {
  constexpr std::size_t kHalfBytes = 2;
  return kHalfBytes * std::size_t(RotateShared(l).count());
}

}  // namespace eckart::compute::cuda
