#pragma once

// One-sided Jacobi on small square matrices, a block each, whose columns lie in registers.

#include "compute/cuda/check.hpp"
#include "compute/cuda/layout/small_matrices.hpp"

namespace eckart::cuda {

constexpr float kOrthogonal = 2e-7F;  // cosine below which two columns are left as they are
constexpr float kSettled = 3e-4F;     // a sweep whose largest cosine was this leaves its square
constexpr float kCancelled = 0.1F;    // what is left of a squared length wants to be summed again
constexpr int kMostSweeps = 20;

// Shared memory sees a fourth of what it would if every pair of columns came from there and went
// back.
constexpr int kLanes = kJacobiLanes;
constexpr int kColumns = kJacobiColumns;

/// Threads for order 16 kEach.
template <int kEach>
constexpr int kJacobiThreads = jacobi_threads(kEach);
template <int kEach>
constexpr int kJacobiBlocks = jacobi_blocks(kEach);

/// A thread's share of a column: rows 2 (lane + kLanes e) and the next, times `scale`. Rotations
/// are kept in the scale as far as they can be, which halves their cost (fast Givens rotations).
template <int kEach>
struct Column {
  float2 at[kEach];
  float squared_length, scale, inverse_scale;
};

template <int kEach>
struct JacobiShared {
  static constexpr int kOrder = 16 * kEach, kThreads = kJacobiThreads<kEach>;
  union {
    float4 moving[2][kEach][kThreads];  // pairs of columns between groups, one step and the next
    float x[kOrder][kOrder];            // U Sigma, at last
  };
  float4 lengths_and_scales[2][kThreads / kLanes];
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

template <int kEach>
__device__ float dot(const Column<kEach>& a, const Column<kEach>& b) {
  float sum = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) sum += a.at[e].x * b.at[e].x + a.at[e].y * b.at[e].y;
  return sum_over_group(sum) * a.scale * b.scale;
}

/// Puts the scale into the elements, and sums the squared length again.
template <int kEach>
__device__ void refresh(Column<kEach>& column) {
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    column.at[e].x *= column.scale;
    column.at[e].y *= column.scale;
  }
  column.scale = column.inverse_scale = 1;
  column.squared_length = dot(column, column);
}

/// 1 / sqrt(x) and 1 / x to 22 bits, in one instruction: denormal numbers do not matter here.
__device__ float about_rsqrt(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ float about_inverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// What makes two columns orthogonal: a - of_b b and b + of_a a, each times `cosine`.
struct Rotation {
  float of_a, of_b, cosine, inverse_cosine, moved;  ///< moved: from a's squared length to b's
};

/// `largest` becomes the columns' cosine, squared, where that is larger. Columns whose squared
/// length is at most `nothing` count as orthogonal: among more columns than dimensions, some never
/// become so.
template <int kEach>
__device__ Rotation rotation(const Column<kEach>& a, const Column<kEach>& b, float nothing,
                             float& largest, bool& turns) {
  const float ab = dot(a, b), aa = a.squared_length, bb = b.squared_length;
  const float between = fminf(aa, bb) > nothing ? ab * ab * about_inverse(aa * bb) : 0.0F;
  largest = fmaxf(largest, between);
  turns = between > kOrthogonal * kOrthogonal;
  // The angle need not be exact, only the rotation.
  const float difference = bb - aa, twice = 2 * ab;
  const float squares = difference * difference + twice * twice;
  const float root = squares * about_rsqrt(squares);
  const float tangent =
      turns ? twice * about_inverse(difference + copysignf(root, difference)) : 0.0F;
  const float rest = 1 + tangent * tangent, about = about_rsqrt(rest);
  const float cosine = about * (1.5F - 0.5F * rest * about * about);
  return {tangent * a.scale * b.inverse_scale, tangent * b.scale * a.inverse_scale, cosine,
          rest * cosine, turns ? tangent * ab : 0.0F};
}

/// Whether the squared lengths want to be summed again.
template <int kEach>
__device__ bool apply(const Rotation& by, Column<kEach>& a, Column<kEach>& b) {
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const float2 old = a.at[e];
    a.at[e].x -= by.of_b * b.at[e].x;
    a.at[e].y -= by.of_b * b.at[e].y;
    b.at[e].x += by.of_a * old.x;
    b.at[e].y += by.of_a * old.y;
  }
  a.scale *= by.cosine;
  b.scale *= by.cosine;
  a.inverse_scale *= by.inverse_cosine;
  b.inverse_scale *= by.inverse_cosine;
  const float aa = a.squared_length, bb = b.squared_length;
  a.squared_length = aa - by.moved;
  b.squared_length = bb + by.moved;
  return a.squared_length < kCancelled * aa || b.squared_length < kCancelled * bb;
}

/// Turns two pairs of columns, a and b, c and d, so that each is orthogonal: two at a time, so that
/// one has something to do while the other waits. Every thread of the warp takes part.
template <int kEach>
__device__ void turn(Column<kEach>& a, Column<kEach>& b, Column<kEach>& c, Column<kEach>& d,
                     float nothing, float& largest) {
  constexpr unsigned kAll = 0xffffffffU;
  bool first_turns, second_turns;
  const Rotation first = rotation(a, b, nothing, largest, first_turns);
  const Rotation second = rotation(c, d, nothing, largest, second_turns);
  if (!__any_sync(kAll, first_turns || second_turns)) return;
  const bool first_cancelled = apply(first, a, b), second_cancelled = apply(second, c, d);
  if (!__any_sync(kAll, first_cancelled || second_cancelled)) return;
  a.squared_length = dot(a, a);
  b.squared_length = dot(b, b);
  c.squared_length = dot(c, c);
  d.squared_length = dot(d, d);
}

/// Every column of one pair against every column of the other.
template <int kEach>
__device__ void turn_pairs(Column<kEach> (&a)[2], Column<kEach> (&b)[2], float nothing,
                           float& largest) {
  turn(a[0], b[0], a[1], b[1], nothing, largest);
  turn(a[0], b[1], a[1], b[0], nothing, largest);
}

/// Gives a pair to the group `step` behind this one, in a ring, and gets the one before it its
/// pair.
template <int kEach>
__device__ void pass(Column<kEach> (&pair)[2], int step, int parity, JacobiShared<kEach>& shared) {
  constexpr int kThreads = kJacobiThreads<kEach>, kGroups = kThreads / kLanes;
  const int thread = int(threadIdx.x), lane = thread % kLanes, group = thread / kLanes;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    shared.moving[parity][e][thread] =
        float4{pair[0].at[e].x, pair[0].at[e].y, pair[1].at[e].x, pair[1].at[e].y};
  }
  if (lane == 0) {
    shared.lengths_and_scales[parity][group] =
        float4{pair[0].squared_length, pair[1].squared_length, pair[0].scale, pair[1].scale};
  }
  __syncthreads();
  const int from = ring_source(group, step, kGroups);
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const float4 both = shared.moving[parity][e][from * kLanes + lane];
    pair[0].at[e] = float2{both.x, both.y};
    pair[1].at[e] = float2{both.z, both.w};
  }
  const float4 rest = shared.lengths_and_scales[parity][from];
  pair[0].squared_length = rest.x, pair[1].squared_length = rest.y;
  pair[0].scale = rest.z, pair[1].scale = rest.w;
  pair[0].inverse_scale = about_inverse(rest.z), pair[1].inverse_scale = about_inverse(rest.w);
}

/// One-sided Jacobi, pairs of columns as the elements of an odd-even transposition sort that
/// exchanges always: group g has those at positions 2g (left) and 2g + 1 (right), turns them, and
/// they change places; then those at 2g + 1 and 2g + 2. After as many steps as there are pairs,
/// each has met each. Whether the columns have become orthogonal.
template <int kEach>
__device__ bool jacobi(Column<kEach> (&left)[2], Column<kEach> (&right)[2], float nothing,
                       JacobiShared<kEach>& shared) {
  constexpr int kGroups = kJacobiThreads<kEach> / kLanes;
  const bool last = int(threadIdx.x) / kLanes == kGroups - 1;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    float largest = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      refresh(left[i]);
      refresh(right[i]);
    }
    turn(left[0], left[1], right[0], right[1], nothing, largest);
#pragma unroll 1
    for (int step = 0; step < kGroups; ++step) {
      turn_pairs(left, right, nothing, largest);
      // What was right is now left, and goes to the group before, whose right one it meets. The
      // first one comes to the last group, which turns one pair more than there is to turn.
      pass(right, -1, 0, shared);
      turn_pairs(left, right, nothing, largest);
      if (last) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const Column<kEach> stays = left[i];
          left[i] = right[i];
          right[i] = stays;
        }
      }
      pass(left, 1, 1, shared);
    }
    if (!__syncthreads_or(largest > kSettled * kSettled)) return true;
  }
  return false;
}

}  // namespace eckart::cuda
