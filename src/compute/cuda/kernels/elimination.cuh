#pragma once

// Cholesky factors and their inverses of symmetric matrices, one block of kSide x kSide threads per
// matrix, sixteen columns at a time. Thread (x, y) holds elements (y + kSide a, x + kSide b), a, b
// < kTiles, in registers. Tiles above the diagonal (b > a) are not used.

#include <stdexcept>
#include <string>

#include "compute/cuda/check.hpp"
#include "compute/cuda/layout/small_matrices.hpp"

namespace eckart::compute::cuda {

constexpr int kThreads = kSide * kSide;

/// Shared memory of a block.
template <class Real, int kTiles>
struct EliminationShared {
  Real panel[kSide][kSide * kTiles + 1];  ///< the next sixteen rows
  Real rows[kSide][kSide * kTiles + 1];   ///< the same rows after elimination
  Real diagonal[kSide][kSide + 1], inverse[kSide][kSide + 1];
};

/// Unrolled steps of the inner loops. Large orders have enough work per step, and unrolling them
/// would take minutes to compile.
template <int kTiles>
constexpr int kUnroll = kTiles <= 4   ? 4
                        : kTiles <= 8 ? 2
                                      : 1;

/// Computes L^-1 of a 16 x 16 matrix D = L L' with one warp, by Gauss-Jordan elimination; each lane
/// holds half a row. A pivot of at most `min_pivot` counts as zero and gives a row of zeros.
template <class Real>
__device__ __noinline__ void invert_factor(const Real (&d)[kSide][kSide + 1], Real min_pivot,
                                           Real (&inverse)[kSide][kSide + 1]) {
  constexpr unsigned kAll = 0xffffffffU;
  constexpr int kHalf = kSide / 2;
  const int lane = int(threadIdx.x) % 32, row = lane % kSide, first = lane / kSide * kHalf;
  Real w[kHalf];
#pragma unroll
  for (int c = 0; c < kHalf; ++c) {
    const int column = first + c;
    w[c] = row >= column ? d[row][column] : d[column][row];
  }
  Real my_pivot = 0;
#pragma unroll
  for (int j = 0; j < kSide; ++j) {
    const int holder = j / kHalf * kSide;  // lane that holds column j of row 0
    const Real pivot = __shfl_sync(kAll, w[j % kHalf], holder + j);
    const Real mine = __shfl_sync(kAll, w[j % kHalf], holder + row);
    if (row == j) my_pivot = pivot;
    const Real factor = row > j && pivot > min_pivot ? mine / pivot : Real(0);
#pragma unroll
    for (int c = 0; c < kHalf; ++c) {
      const Real other = __shfl_sync(kAll, w[c], lane / kSide * kSide + j);
      const bool pivots = first + c == j;
      w[c] = (pivots && row > j ? Real(0) : w[c]) - factor * (pivots ? Real(1) : other);
    }
  }
  const Real length = my_pivot > min_pivot ? rsqrt(my_pivot) : Real(0);
#pragma unroll
  for (int c = 0; c < kHalf; ++c) {
    const int column = first + c;
    inverse[row][column] = column < row ? w[c] * length : column == row ? length : Real(0);
  }
}

/// Eliminates one panel: rows and columns kSide kPanel to kSide kPanel + 15.
template <int kPanel, class Real, int kTiles, class OnRow>
__device__ void eliminate_panel(Real (&w)[kTiles][kTiles], Real min_pivot,
                                EliminationShared<Real, kTiles>& shared, OnRow on_row) {
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
#pragma unroll
  for (int b = 0; b < kPanel; ++b) shared.panel[y][x + kSide * b] = w[kPanel][b];
#pragma unroll
  for (int a = kPanel + 1; a < kTiles; ++a) shared.panel[x][y + kSide * a] = w[a][kPanel];
  if (y >= x) {  // both triangles of the diagonal tile
    shared.panel[y][x + kSide * kPanel] = w[kPanel][kPanel];
    shared.panel[x][y + kSide * kPanel] = w[kPanel][kPanel];
    shared.diagonal[y][x] = w[kPanel][kPanel];
  }
  __syncthreads();
  if (threadIdx.x < 32) invert_factor(shared.diagonal, min_pivot, shared.inverse);
  __syncthreads();

  Real sum[kTiles] = {};
#pragma unroll kUnroll < kTiles>
  for (int r = 0; r < kSide; ++r) {
    const Real factor = shared.inverse[y][r];
#pragma unroll
    for (int b = 0; b < kTiles; ++b) sum[b] += factor * shared.panel[r][x + kSide * b];
  }
#pragma unroll
  for (int b = 0; b < kTiles; ++b) {
    const int c = x + kSide * b;
    const Real inverse = b == kPanel ? shared.inverse[y][x] : b < kPanel ? sum[b] : Real(0);
    const bool in_r = b > kPanel || (b == kPanel && x >= y);
    shared.rows[y][c] = b > kPanel ? sum[b] : inverse;
    on_row(b, kSide * kPanel + y, c, inverse, in_r ? sum[b] : Real(0));
  }
  __syncthreads();

  if constexpr (kPanel + 1 < kTiles) {
#pragma unroll
    for (int a = kPanel + 1; a < kTiles; ++a) w[a][kPanel] = 0;
#pragma unroll kUnroll < kTiles>
    for (int s = 0; s < kSide; ++s) {
      Real right[kTiles];
#pragma unroll
      for (int b = 0; b < kTiles; ++b) right[b] = shared.rows[s][x + kSide * b];
#pragma unroll
      for (int a = kPanel + 1; a < kTiles; ++a) {
        const Real left = shared.rows[s][y + kSide * a];
#pragma unroll
        for (int b = 0; b <= a; ++b) w[a][b] -= left * right[b];
      }
    }
  }
}

/// Computes the Cholesky factor R of S = R'R and its inverse. w holds the lower triangle of S,
/// padded to whole tiles with a unit matrix. For each row i and column c = x + kSide b, the thread
/// calls on_row(b, i, c, (R^-1)(c, i), R(i, c)), including the zeros of both. A pivot of at most
/// `min_pivot` counts as zero: that row of R and column of R^-1 are zero.
template <int kPanel = 0, class Real, int kTiles, class OnRow>
__device__ void eliminate(Real (&w)[kTiles][kTiles], Real min_pivot,
                          EliminationShared<Real, kTiles>& shared, OnRow on_row) {
  eliminate_panel<kPanel>(w, min_pivot, shared, on_row);
  if constexpr (kPanel + 1 < kTiles) eliminate<kPanel + 1>(w, min_pivot, shared, on_row);
}

/// Sets w to element(i, c) for i >= c below order l, and to the unit matrix elsewhere.
template <class Real, int kTiles, class Element>
__device__ void fill(Real (&w)[kTiles][kTiles], int l, Element element) {
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
#pragma unroll
  for (int a = 0; a < kTiles; ++a) {
#pragma unroll
    for (int b = 0; b <= a; ++b) {
      const int i = y + kSide * a, c = x + kSide * b;
      w[a][b] = i < l && c < l && i >= c ? element(i, c) : i == c ? Real(1) : Real(0);
    }
  }
}

/// The largest power of two that is at most `value`; 1 if `value` is 0.
__device__ inline float power_of_two_below(float value) {
  return value > 0 ? exp2f(float(ilogbf(value))) : 1.0F;
}

/// Calls launch<kTiles>() with kTiles = order_tiles(l). Throws std::logic_error if l is too large.
template <class Launch>
void dispatch_order(int l, Launch launch) {
  switch (order_tiles(l)) {
    case 1:
      return launch.template operator()<1>();
    case 2:
      return launch.template operator()<2>();
    case 3:
      return launch.template operator()<3>();
    case 4:
      return launch.template operator()<4>();
    case 5:
      return launch.template operator()<5>();
    case 6:
      return launch.template operator()<6>();
    case 7:
      return launch.template operator()<7>();
    case 8:
      return launch.template operator()<8>();
    case 9:
      return launch.template operator()<9>();
    case 10:
      return launch.template operator()<10>();
    case 11:
      return launch.template operator()<11>();
    case 12:
      return launch.template operator()<12>();
    default:
      throw std::logic_error("no kernel for small matrices of order " + std::to_string(l));
  }
}

}  // namespace eckart::compute::cuda
