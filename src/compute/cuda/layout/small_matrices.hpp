#pragma once

#include <algorithm>
#include <cstddef>

#include "compute/cuda/layout/tiles.hpp"

namespace eckart::cuda {

// Symmetric matrices, a block of kSide x kSide threads each: thread (x, y) has elements
// (y + kSide a, x + kSide b), a, b < each.
constexpr int kSide = 16;
constexpr int kMaxOrderTiles = 12;                      // what small_svd() has shared memory for
constexpr int kMaxSmallOrder = kSide * kMaxOrderTiles;  // the largest order

/// Rows, and columns, of a matrix of order l that a thread has.
constexpr int order_tiles(int l) { return tile_count(l, kSide); }

/// The largest order, a multiple of kSide, that takes no more than `limit` bytes of shared memory;
/// bytes(order) must not fall.
template <class Bytes>
int largest_order(int limit, const Bytes& bytes) {
  int l = 0;
  for (int next = kSide; next <= kMaxSmallOrder; next += kSide) {
    if (bytes(next) <= limit) l = next;
  }
  return l;
}

// One-sided Jacobi. Columns lie in registers, kJacobiColumns of them in a group of kJacobiLanes
// threads, and two of these move to a neighboring group in a step.
constexpr int kJacobiLanes = 8;
constexpr int kJacobiColumns = 4;

/// Threads for order 16 each.
constexpr int jacobi_threads(int tiles) { return 16 * tiles / kJacobiColumns * kJacobiLanes; }
/// As many blocks on a multiprocessor as have registers; none takes more than sixteen everywhere.
constexpr int jacobi_blocks(int tiles) {
  return std::clamp(65536 / (jacobi_threads(tiles) * (8 * tiles + 64)), 1, 16);
}
/// Two neighboring rows that a lane has of its group's columns: the first of the e-th two.
ECKART_HOST_DEVICE constexpr int jacobi_row(int lane, int e) {
  return 2 * (lane + kJacobiLanes * e);
}
/// The group, of a ring of them, whose pair of columns this one gets when each gives its own to the
/// one `step` behind it.
ECKART_HOST_DEVICE constexpr int ring_source(int group, int step, int groups) {
  return (group - step + groups) % groups;
}

/// Shared memory of a block of rotate(), in float16 numbers: kRotateColumns columns of M in two
/// numbers (hi, lo), [column][k], and kRotateRows rows of what is multiplied, likewise, [k][row].
constexpr int kRotateRows = 128;
constexpr int kRotateColumns = 64;
struct RotateShared {
  static constexpr int kPad = 8;  // so that the rows of an 8 x 8 matrix lie in different banks
  static constexpr int kRowStride = kRotateRows + kPad;

  ECKART_HOST_DEVICE constexpr explicit RotateShared(int depth)
      : m_stride(depth + kPad),
        m_count(kRotateColumns * m_stride),
        rows_count(depth * kRowStride) {}
  int m_stride;
  int m_count, rows_count;  ///< of each half of M, which come first, and of the rows
  constexpr int count() const { return 2 * (m_count + rows_count); }
};

/// Rows of M that matter to kRotateColumns columns from the column0-th on.
ECKART_HOST_DEVICE inline int rotate_depth(int l, int column0, bool upper) {
  return upper ? smaller(l, column0 + kRotateColumns) : l;
}

/// Shared memory that a block of rotate() or rotate_split() takes.
constexpr std::size_t rotate_shared_bytes(int l) {
  constexpr std::size_t kHalfBytes = 2;
  return kHalfBytes * std::size_t(RotateShared(l).count());
}

}  // namespace eckart::cuda
