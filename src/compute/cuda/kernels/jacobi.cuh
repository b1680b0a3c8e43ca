#pragma once

// One-sided Jacobi for small square matrices, one block per matrix. The columns are in registers.

#include "compute/cuda/check.hpp"
#include "compute/cuda/layout/small_matrices.hpp"

namespace eckart::compute::cuda {

constexpr float kOrthogonalCosine = 2e-7F;  // columns with a smaller cosine are not rotated
// A sweep is the last if its largest cosine is at most this. The next would be about its square.
constexpr float kConvergedCosine = 3e-4F;
// a squared norm that falls below this share is summed again
constexpr float kCancellationShare = 0.1F;
constexpr int kMaxSweeps = 20;

// Each group of threads holds four columns. This needs a fourth of the shared memory traffic of
// loading every pair of columns.
constexpr int kLanes = kJacobiLanes;
constexpr int kColumns = kJacobiColumns;

/// Threads for order 16 kTiles.
template <int kTiles>
constexpr int kJacobiThreads = jacobi_threads(kTiles);
template <int kTiles>
constexpr int kJacobiBlocks = jacobi_blocks(kTiles);

/// A thread's part of a column: rows 2 (lane + kLanes e) and the next one, times `scale`. Rotations
/// are accumulated in the scale where possible, which halves their cost (fast Givens rotations).
template <int kTiles>
struct Column {
  float2 at[kTiles];
  float squared_norm, scale, inverse_scale;
};

template <int kTiles>
struct JacobiShared {
  static constexpr int kOrder = 16 * kTiles, kThreads = kJacobiThreads<kTiles>;
  union {
    // Pairs of columns passed between groups; double-buffered.
    float4 exchange[2][kTiles][kThreads];
    float x[kOrder][kOrder];  // U Sigma, after the last sweep
  };
  float4 norms_and_scales[2][kThreads / kLanes];
  float sigma_squared[kOrder], power[kOrder];
  float sum[kThreads / 32];
  int order[kOrder];
};

/// Sum over a group. Every thread of the group gets the result.
__device__ inline float sum_over_group(float value) {
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

/// Multiplies the elements by the scale and sums the squared norm again.
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

/// 1 / sqrt(x) and 1 / x with 22 correct bits, in one instruction. Denormals are flushed to zero.
__device__ inline float approximate_rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float approximate_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Makes columns a and b orthogonal: (a - b_factor b) cosine and (b + a_factor a) cosine.
struct JacobiRotation {
  float a_factor, b_factor, cosine, inverse_cosine,
      transferred;  ///< from the squared norm of a to that of b
};

/// Raises `largest` to the squared cosine between the columns. Columns with a squared norm of at
/// most `negligible` count as orthogonal: if the rank is below the number of columns, some never
/// converge.
template <int kTiles>
__device__ JacobiRotation compute_rotation(const Column<kTiles>& a, const Column<kTiles>& b,
                                           float negligible, float& largest, bool& is_needed) {
  const float ab = dot(a, b), aa = a.squared_norm, bb = b.squared_norm;
  const float between =
      fminf(aa, bb) > negligible ? ab * ab * approximate_reciprocal(aa * bb) : 0.0F;
  largest = fmaxf(largest, between);
  is_needed = between > kOrthogonalCosine * kOrthogonalCosine;
  // The angle may be approximate, but the rotation must be orthogonal.
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

/// Rotates a and b. Returns true if cancellation makes it necessary to sum the squared norms again.
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

/// Orthogonalizes a with b and c with d. Two pairs at a time hide latency. All threads of the warp
/// must call it.
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

/// Orthogonalizes every column of one pair with every column of the other.
template <int kTiles>
__device__ void orthogonalize_pairs(Column<kTiles> (&a)[2], Column<kTiles> (&b)[2],
                                    float negligible, float& largest) {
  orthogonalize(a[0], b[0], a[1], b[1], negligible, largest);
  orthogonalize(a[0], b[1], a[1], b[0], negligible, largest);
}

/// Sends a pair of columns to the group `step` further in the ring, and receives a pair from the
/// group `step` before.
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

/// One-sided Jacobi on pairs of columns, in the order of an odd-even transposition sort that always
/// exchanges. Group g holds the pairs at positions 2g (left) and 2g + 1 (right). It orthogonalizes
/// and exchanges them, and then the pairs at 2g + 1 and 2g + 2. After as many steps as there are
/// pairs, each pair has met every other. Returns true if the columns converged.
template <int kTiles>
__device__ bool jacobi(Column<kTiles> (&left)[2], Column<kTiles> (&right)[2], float negligible,
                       JacobiShared<kTiles>& shared) {
  constexpr int kGroups = kJacobiThreads<kTiles> / kLanes;
  const bool is_last_group = int(threadIdx.x) / kLanes == kGroups - 1;
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
      // After the exchange the right pair is the left one. It goes to the group before and meets
      // that group's other pair. The first pair goes to the last group, which orthogonalizes one
      // combination more than necessary.
      shift_pairs(right, -1, 0, shared);
      orthogonalize_pairs(left, right, negligible, largest);
      if (is_last_group) {
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

}  // namespace eckart::compute::cuda
