#include <algorithm>

#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/small_svd.hpp"

namespace eckart::cuda {
namespace {

constexpr float kOrthogonal = 2e-7F;  // cosine below which two columns are left as they are
constexpr float kSettled = 3e-4F;     // a sweep whose largest cosine was this leaves its square
constexpr float kNothing = 1e-15F;    // of the sum of squares: a column this weak is rounding
constexpr float kCancelled = 0.1F;    // what is left of a squared length wants to be summed again
constexpr float kWeak = 0.01F;        // share of a column's squared length that is its own
constexpr int kMostSweeps = 20;

// Columns lie in registers, four in a group of kLanes threads, and two of these move to a
// neighbouring group in a step: so shared memory sees a fourth of what it would if every pair came
// from there and went back.
constexpr int kLanes = 8;
constexpr int kColumns = 4;
constexpr int kColumnsAtOnce = 16;  // of M that a thread computes elements of

/// Threads for order 16 kEach.
template <int kEach>
constexpr int kJacobiThreads = 16 * kEach / kColumns* kLanes;
/// As many blocks on a multiprocessor as have registers; none takes more than sixteen everywhere.
template <int kEach>
constexpr int kJacobiBlocks = std::clamp(65536 / (kJacobiThreads<kEach> * (8 * kEach + 64)), 1, 16);

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
  const int from = (group - step + kGroups) % kGroups;
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
      // first one comes to the last group, where it makes no difference.
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

/// Sums over the block; all threads get it.
template <int kEach>
__device__ float sum_over_block(float value, JacobiShared<kEach>& shared) {
  for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffU, value, half);
  if (threadIdx.x % 32 == 0) shared.sum[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (const float part : shared.sum) sum += part;
  return sum;
}

template <int kEach>
__global__ void __launch_bounds__(kJacobiThreads<kEach>, kJacobiBlocks<kEach>)
    jacobi_kernel(const double* __restrict__ s_ll, const float* __restrict__ inverse_ll, int k,
                  int columns, double* __restrict__ sigma_squared, int stride, SmallMatrix m_lk,
                  int* __restrict__ info, int* __restrict__ weak) {
  constexpr int l = 16 * kEach, kThreads = kJacobiThreads<kEach>;
  extern __shared__ float4 dynamic[];
  auto& shared = *reinterpret_cast<JacobiShared<kEach>*>(dynamic);
  const int image = int(blockIdx.x), thread = int(threadIdx.x);
  const int lane = thread % kLanes, group = thread / kLanes;
  const std::size_t matrix = std::size_t(image) * l * l;
  const float* r = reinterpret_cast<const float*>(s_ll + matrix);

  Column<kEach> left[2], right[2];
  float lengths = 0;
  bool has_weak = false;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    Column<kEach>& column = i < 2 ? left[i] : right[i - 2];
    const int c = kColumns * group + i;
#pragma unroll
    for (int e = 0; e < kEach; ++e)
      column.at[e] = *reinterpret_cast<const float2*>(r + c * l + 2 * (lane + kLanes * e));
    column.scale = column.inverse_scale = 1;
    column.squared_length = dot(column, column);
    const float own = r[c * l + c];
    has_weak = has_weak || (own > 0 && own * own < kWeak * column.squared_length);
    lengths += column.squared_length / kLanes;
    if (lane == 0) {
      const float power = power_of_two_below(sqrtf(column.squared_length));
      shared.power[c] = power;
      m_lk.scale[image * l + c] = 1.0F / power;
    }
  }
  const float nothing = kNothing * sum_over_block(lengths, shared);
  const bool settled = jacobi(left, right, nothing, shared);
  if (thread == 0) info[image] = settled ? 0 : 1;
  has_weak = __syncthreads_or(has_weak);
  if (thread == 0) weak[image] = has_weak ? 1 : 0;

#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    Column<kEach>& column = i < 2 ? left[i] : right[i - 2];
    const int c = kColumns * group + i;
    refresh(column);
    const bool is_number = column.squared_length >= 0;  // or else there would be no order
    if (lane == 0) shared.sigma_squared[c] = is_number ? column.squared_length : 0.0F;
    if (lane == 0 && !is_number) info[image] = 1;
#pragma unroll
    for (int e = 0; e < kEach; ++e)
      *reinterpret_cast<float2*>(&shared.x[c][2 * (lane + kLanes * e)]) = column.at[e];
  }
  __syncthreads();
  for (int i = thread; i < l; i += kThreads) {
    const float mine = shared.sigma_squared[i];
    int before = 0;
    for (int j = 0; j < l; ++j) {
      const float other = shared.sigma_squared[j];
      before += other > mine || (other == mine && j < i);
    }
    shared.order[before] = i;
    sigma_squared[std::size_t(image) * std::size_t(stride) + std::size_t(before)] = double(mine);
  }
  __syncthreads();

  // M = R^-1 U: a thread has one row of it, and kColumnsAtOnce columns at a time
  const float* inverse = inverse_ll + matrix;
  const std::size_t to = std::size_t(image) * l * std::size_t(columns);
  const int c = thread % l, first_row = c / 32 * 32;  // R^-1 has zeros before
  for (int j0 = thread / l * kColumnsAtOnce; j0 < columns; j0 += kThreads / l * kColumnsAtOnce) {
    const float* x[kColumnsAtOnce];
    float value[kColumnsAtOnce] = {};
#pragma unroll
    for (int j = 0; j < kColumnsAtOnce; ++j) x[j] = shared.x[shared.order[j0 + j]];
    for (int i = first_row; i < l; i += 4) {
      float by[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) by[e] = inverse[(i + e) * l + c];
#pragma unroll
      for (int j = 0; j < kColumnsAtOnce; ++j) {
        const float4 rows = *reinterpret_cast<const float4*>(x[j] + i);
        value[j] += by[0] * rows.x + by[1] * rows.y + by[2] * rows.z + by[3] * rows.w;
      }
    }
#pragma unroll
    for (int j = 0; j < kColumnsAtOnce; ++j) {
      const float squared = shared.sigma_squared[shared.order[j0 + j]];
      const bool in = j0 + j < k && squared > nothing;
      const float element = in ? value[j] * shared.power[c] * rsqrtf(squared) : 0.0F;
      const __half hi = __float2half_rn(element);
      const std::size_t at = to + std::size_t(j0 + j) * l + std::size_t(c);
      m_lk.hi[at] = hi;
      m_lk.lo[at] = __float2half_rn(element - __half2float(hi));
    }
  }
}

}  // namespace

int most_small_columns(int device) {
  int most_bytes = 0, l = 0;
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  for (int next = kSide; next <= kMostSmall; next += kSide) {
    int bytes = int(rotate_shared_bytes(next));
    for_order(next, [&]<int kEach>() {
      bytes = std::max(
          {bytes, int(sizeof(EliminationShared<double, kEach>)), int(sizeof(JacobiShared<kEach>))});
    });
    if (bytes <= most_bytes) l = next;
  }
  return l;
}

void small_svd(double* s_ll, int l, int k, int columns, double* sigma_squared, int stride,
               const SmallMatrix& m_lk, float* work_ll, int* info, int* weak, int count,
               cudaStream_t stream) {
  cholesky_to_float(s_ll, l, work_ll, count, stream);
  for_order(l, [&]<int kEach>() {
    constexpr int kBytes = sizeof(JacobiShared<kEach>);
    ECKART_CUDA_CHECK(cudaFuncSetAttribute(jacobi_kernel<kEach>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    jacobi_kernel<kEach><<<unsigned(count), kJacobiThreads<kEach>, kBytes, stream>>>(
        s_ll, work_ll, k, columns, sigma_squared, stride, m_lk, info, weak);
    ECKART_CUDA_CHECK(cudaGetLastError());
  });
}

}  // namespace eckart::cuda
