#pragma once

// One-sided Jacobi on small square matrices, a block each, whose columns lie in registers.

#include "compute/cuda/check.hpp"
#include "compute/cuda/layout/small_matrices.hpp"

namespace eckart::cuda {

constexpr float kOrthogonalCosine = 2e-7F;  // cosine below which two columns are left as they are
constexpr float kConvergedCosine =
    3e-4F;  // a sweep whose largest cosine was this leaves its square
constexpr float kCancellationShare =
    0.1F;  // what is left of a squared length wants to be summed again
constexpr int kMaxSweeps = 20;

// Shared memory sees a fourth of what it would if every pair of columns came from there and went
// back.
constexpr int kLanes = kJacobiLanes;
constexpr int kColumns = kJacobiColumns;

/// Threads for order 16 kTiles.
template <int kTiles>
constexpr int kJacobiThreads = jacobi_threads(kTiles);
template <int kTiles>
constexpr int kJacobiBlocks = jacobi_blocks(kTiles);

/// A thread's share of a column: rows 2 (lane + kLanes e) and the next, times `scale`. Rotations
/// are kept in the scale as far as they can be, which halves their cost (fast Givens rotations).
template <int kTiles>
struct Column {
  float2 at[kTiles];
  float squared_norm, scale, inverse_scale;
};

template <int kTiles>
struct JacobiShared {
  static constexpr int kOrder = 16 * kTiles, kThreads = kJacobiThreads<kTiles>;
  union {
    float4 exchange[2][kTiles][kThreads];  // pairs of columns between groups, one step and the next
    float x[kOrder][kOrder];               // U Sigma, at last
  };
  float4 norms_and_scales[2][kThreads / kLanes];
  float sigma_squared[kOrder], power[kOrder];
  float sum[kThreads / 32];
  int order[kOrder];
};

/// Sum over a group; all its threads get it.
__device__ float sum_over_group(float value) {
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2)
    value += __shfl_xor_sync(0xffffffffU, value, half);
  return value;
}

template <int kTiles>
__device__ float dot(const Column<kTiles>& a, const Column<kTiles>& b) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kTiles; ++e) sum += a.at[e].x * b.at[e].x + a.at[e].y * b.at[e].y;
  return sum_over_group(sum) * a.scale * b.scale;
}

/// Puts the scale into the elements, and sums the squared length again.
template <int kTiles>
__device__ void apply_scale(Column<kTiles>& column) {
#pragma unroll
  for (int e = 0; e < kTiles; ++e) {
    column.at[e].x *= column.scale;
    column.at[e].y *= column.scale;
  }
  column.scale = column.inverse_scale = 1;
  column.squared_norm = dot(column, column);
}

/// 1 / sqrt(x) and 1 / x to 22 bits, in one instruction: denormal numbers do not matter here.
__device__ float approximate_rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ float approximate_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// What makes two columns orthogonal: a - b_factor b and b + a_factor a, each times `cosine`.
struct JacobiRotation {
  float a_factor, b_factor, cosine, inverse_cosine,
      transferred;  ///< moved: from a's squared length to b's
};

/// `largest` becomes the columns' cosine, squared, where that is larger. Columns whose squared
/// length is at most `nothing` count as orthogonal: among more columns than dimensions, some never
/// become so.
template <int kTiles>
__device__ JacobiRotation compute_rotation(const Column<kTiles>& a, const Column<kTiles>& b,
                                           float negligible, float& largest, bool& is_needed) {
  const float ab = dot(a, b), aa = a.squared_norm, bb = b.squared_norm;
  const float between =
      fminf(aa, bb) > negligible ? ab * ab * approximate_reciprocal(aa * bb) : 0.0F;
  largest = fmaxf(largest, between);
  is_needed = between > kOrthogonalCosine * kOrthogonalCosine;
  // The angle need not be exact, only the rotation.
  const float difference = bb - aa, twice = 2 * ab;
  const float squares = difference * difference + twice * twice;
  const float root = squares * approximate_rsqrt(squares);
  const float tangent =
      is_needed ? twice * approximate_reciprocal(difference + copysignf(root, difference)) : 0.0F;
  const float rest = 1 + tangent * tangent, estimate = approximate_rsqrt(rest);
  const float cosine = estimate * (1.5F - 0.5F * rest * estimate * estimate);
  return {tangent * a.scale * b.inverse_scale, tangent * b.scale * a.inverse_scale, cosine,
          rest * cosine, is_needed ? tangent * ab : 0.0F};
}

/// Returns whether cancellation makes it necessary to sum the squared norms again.
template <int kTiles>
__device__ bool apply_rotation(const JacobiRotation& by, Column<kTiles>& a, Column<kTiles>& b) {
#pragma unroll
  for (int e = 0; e < kTiles; ++e) {
    const float2 old = a.at[e];
    a.at[e].x -= by.b_factor * b.at[e].x;
    a.at[e].y -= by.b_factor * b.at[e].y;
    b.at[e].x += by.a_factor * old.x;
    b.at[e].y += by.a_factor * old.y;
  }
  a.scale *= by.cosine;
  b.scale *= by.cosine;
  a.inverse_scale *= by.inverse_cosine;
  b.inverse_scale *= by.inverse_cosine;
  const float aa = a.squared_norm, bb = b.squared_norm;
  a.squared_norm = aa - by.transferred;
  b.squared_norm = bb + by.transferred;
  return a.squared_norm < kCancellationShare * aa || b.squared_norm < kCancellationShare * bb;
}

/// Turns two pairs of columns, a and b, c and d, so that each is orthogonal: two at a time, so that
/// one has something to do while the other waits. Every thread of the warp takes part.
template <int kTiles>
__device__ void orthogonalize(Column<kTiles>& a, Column<kTiles>& b, Column<kTiles>& c,
                              Column<kTiles>& d, float negligible, float& largest) {
  constexpr unsigned kAll = 0xffffffffU;
  bool is_first_needed, is_second_needed;
  const JacobiRotation first = compute_rotation(a, b, negligible, largest, is_first_needed);
  const JacobiRotation second = compute_rotation(c, d, negligible, largest, is_second_needed);
  if (!__any_sync(kAll, is_first_needed || is_second_needed)) return;
  const bool has_first_cancellation = apply_rotation(first, a, b),
             has_second_cancellation = apply_rotation(second, c, d);
  if (!__any_sync(kAll, has_first_cancellation || has_second_cancellation)) return;
  a.squared_norm = dot(a, a);
  b.squared_norm = dot(b, b);
  c.squared_norm = dot(c, c);
  d.squared_norm = dot(d, d);
}

/// Every column of one pair against every column of the other.
template <int kTiles>
__device__ void orthogonalize_pairs(Column<kTiles> (&a)[2], Column<kTiles> (&b)[2],
                                    float negligible, float& largest) {
  orthogonalize(a[0], b[0], a[1], b[1], negligible, largest);
  orthogonalize(a[0], b[1], a[1], b[0], negligible, largest);
}

/// Gives a pair to the group `step` behind this one, in a ring, and gets the one before it its
/// pair.
template <int kTiles>
__device__ void shift_pairs(Column<kTiles> (&pair)[2], int step, int parity,
                            JacobiShared<kTiles>& shared) {
  constexpr int kThreads = kJacobiThreads<kTiles>, kGroups = kThreads / kLanes;
  const int thread = int(threadIdx.x), lane = thread % kLanes, group = thread / kLanes;
#pragma unroll
  for (int e = 0; e < kTiles; ++e) {
    shared.exchange[parity][e][thread] =
        float4{pair[0].at[e].x, pair[0].at[e].y, pair[1].at[e].x, pair[1].at[e].y};
  }
  if (lane == 0) {
    shared.norms_and_scales[parity][group] =
        float4{pair[0].squared_norm, pair[1].squared_norm, pair[0].scale, pair[1].scale};
  }
  __syncthreads();
  const int from = ring_source(group, step, kGroups);
#pragma unroll
  for (int e = 0; e < kTiles; ++e) {
    const float4 both = shared.exchange[parity][e][from * kLanes + lane];
    pair[0].at[e] = float2{both.x, both.y};
    pair[1].at[e] = float2{both.z, both.w};
  }
  const float4 rest = shared.norms_and_scales[parity][from];
  pair[0].squared_norm = rest.x, pair[1].squared_norm = rest.y;
  pair[0].scale = rest.z, pair[1].scale = rest.w;
  pair[0].inverse_scale = approximate_reciprocal(rest.z),
  pair[1].inverse_scale = approximate_reciprocal(rest.w);
}

/// One-sided Jacobi, pairs of columns as the elements of an odd-even transposition sort that
/// exchanges always: group g has those at positions 2g (left) and 2g + 1 (right), orthogonalizes
/// them, and they change places; then those at 2g + 1 and 2g + 2. After as many steps as there are
/// pairs, each has met each. Whether the columns have become orthogonal.
template <int kTiles>
__device__ bool jacobi(Column<kTiles> (&left)[2], Column<kTiles> (&right)[2], float negligible,
                       JacobiShared<kTiles>& shared) {
  constexpr int kGroups = kJacobiThreads<kTiles> / kLanes;
  const bool last = int(threadIdx.x) / kLanes == kGroups - 1;
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    float largest = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      apply_scale(left[i]);
      apply_scale(right[i]);
    }
    orthogonalize(left[0], left[1], right[0], right[1], negligible, largest);
#pragma unroll 1
    for (int step = 0; step < kGroups; ++step) {
      orthogonalize_pairs(left, right, negligible, largest);
      // What was right is now left, and goes to the group before, whose right one it meets. The
      // first one comes to the last group, which orthogonalizes one pair more than there is to
      // turn.
      shift_pairs(right, -1, 0, shared);
      orthogonalize_pairs(left, right, negligible, largest);
      if (last) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const Column<kTiles> saved = left[i];
          left[i] = right[i];
          right[i] = saved;
        }
      }
      shift_pairs(left, 1, 1, shared);
    }
    if (!__syncthreads_or(largest > kConvergedCosine * kConvergedCosine)) return true;
  }
  return false;
}

}  // namespace eckart::cuda
