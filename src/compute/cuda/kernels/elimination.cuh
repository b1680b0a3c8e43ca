#pragma once

// Gauss-Jordan elimination of a symmetric matrix that a block of kSide x kSide threads holds in
// registers: thread (x, y) has elements (y + kSide a, x + kSide b), a, b < kEach, of which those in
// tiles above the diagonal (b > a) are not used.

#include "compute/cuda/check.hpp"

namespace eckart::cuda {

constexpr int kMostSmall = 224;  // 32 x 32 threads, 7 x 7 elements each

/// What a block's threads tell one another, in shared memory.
struct EliminationShared {
  float line[2][kMostSmall];
  float pivot[kMostSmall];
};

/// Element (i, c) of the matrix and its use: f(a, b, i, c).
template <int kSide, int kEach, class Use>
__device__ void for_each_element(int l, Use use) {
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
#pragma unroll
  for (int a = 0; a < kEach; ++a) {
#pragma unroll
    for (int b = 0; b <= a; ++b) {
      const int i = y + kSide * a, c = x + kSide * b;
      if (i < l && c < l) use(a, b, i, c);
    }
  }
}

/// Puts into `line` what step `j` needs: the pivot's column below it, and its row before it.
template <int kSide, int kEach, int kTile>
__device__ void publish(const float (&w)[kEach][kEach], int j, int l, float* line) {
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
  if constexpr (kTile < kEach) {
    if (x == j % kSide) {
#pragma unroll
      for (int a = kTile; a < kEach; ++a) {
        const int i = y + kSide * a;
        if (i >= j && i < l) line[i] = w[a][kTile];
      }
    }
    if (y == j % kSide) {
#pragma unroll
      for (int b = 0; b <= kTile; ++b) {
        const int c = x + kSide * b;
        if (c < j) line[c] = w[kTile][b];
      }
    }
  }
}

template <int kSide, int kEach, int kTile, class OnStep>
__device__ void eliminate_tile(float (&w)[kEach][kEach], int l, float least,
                               EliminationShared& shared, OnStep on_step) {
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
  for (int in_tile = 0; in_tile < kSide; ++in_tile) {
    const int j = kTile * kSide + in_tile;
    if (j >= l) return;
    const float* line = shared.line[j % 2];
    const float pivot = line[j];
    const float inverse = pivot > least ? 1.0F / pivot : 0.0F;
    on_step(j, line, pivot);
    float right[kEach];
#pragma unroll
    for (int b = 0; b < kEach; ++b) {
      const int c = x + kSide * b;
      right[b] = c < l ? (c == j ? 1.0F : line[c]) : 0.0F;
    }
#pragma unroll
    for (int a = kTile; a < kEach; ++a) {
      const int i = y + kSide * a;
      if (i <= j || i >= l) continue;
      const float factor = line[i] * inverse;
#pragma unroll
      for (int b = 0; b <= a; ++b) {
        const float before = b == kTile && x == in_tile ? 0.0F : w[a][b];
        w[a][b] = before - factor * right[b];
      }
    }
    if (threadIdx.x == 0) shared.pivot[j] = pivot;
    if (j + 1 < l) {
      if (in_tile + 1 < kSide) {
        publish<kSide, kEach, kTile>(w, j + 1, l, shared.line[(j + 1) % 2]);
      } else {
        publish<kSide, kEach, kTile + 1>(w, j + 1, l, shared.line[(j + 1) % 2]);
      }
    }
    __syncthreads();
  }
}

/// S = U' D U with unit upper triangular U. The lower triangle of S, in w, becomes the inverse of
/// U' below the diagonal, and shared.pivot the diagonal of D. A pivot of at most `least` counts as
/// zero. on_step(j, line, pivot) sees row j of D U in line[j..l-1], before it is used; it may not
/// wait for other threads.
template <int kSide, int kEach, class OnStep>
__device__ void eliminate(float (&w)[kEach][kEach], int l, float least, EliminationShared& shared,
                          OnStep on_step) {
  publish<kSide, kEach, 0>(w, 0, l, shared.line[0]);
  __syncthreads();
  eliminate_tile<kSide, kEach, 0>(w, l, least, shared, on_step);
  if constexpr (kEach > 1) eliminate_tile<kSide, kEach, 1>(w, l, least, shared, on_step);
  if constexpr (kEach > 2) eliminate_tile<kSide, kEach, 2>(w, l, least, shared, on_step);
  if constexpr (kEach > 3) eliminate_tile<kSide, kEach, 3>(w, l, least, shared, on_step);
  if constexpr (kEach > 4) eliminate_tile<kSide, kEach, 4>(w, l, least, shared, on_step);
  if constexpr (kEach > 5) eliminate_tile<kSide, kEach, 5>(w, l, least, shared, on_step);
  if constexpr (kEach > 6) eliminate_tile<kSide, kEach, 6>(w, l, least, shared, on_step);
  if constexpr (kEach > 7) eliminate_tile<kSide, kEach, 7>(w, l, least, shared, on_step);
}

/// The largest power of two that is at most `value`; 1 for nothing.
__device__ inline float power_of_two_below(float value) {
  return value > 0 ? exp2f(float(ilogbf(value))) : 1.0F;
}

/// Calls launch<kSide, kEach>() with the smallest block that holds order l.
template <class Launch>
void for_order(int l, Launch launch) {
  switch ((l + 15) / 16) {
    case 1:
      return launch.template operator()<16, 1>();
    case 2:
      return launch.template operator()<16, 2>();
    case 3:
      return launch.template operator()<16, 3>();
    case 4:
      return launch.template operator()<16, 4>();
    case 5:
      return launch.template operator()<16, 5>();
    case 6:
      return launch.template operator()<16, 6>();
    case 7:
      return launch.template operator()<16, 7>();
    case 8:
      return launch.template operator()<16, 8>();
    case 9:
    case 10:
      return launch.template operator()<32, 5>();
    case 11:
    case 12:
      return launch.template operator()<32, 6>();
    case 13:
    case 14:
      return launch.template operator()<32, 7>();
    default:
      throw std::logic_error("no kernel for small matrices of order " + std::to_string(l));
  }
}

}  // namespace eckart::cuda
