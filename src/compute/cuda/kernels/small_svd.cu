#include <algorithm>

#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/small_svd.hpp"

namespace eckart::cuda {
namespace {

// What is left of a column of unit length, squared, when what it shares with those before it is
// taken off. Where it is less, float32 columns and two halves have too little of it to be told
// apart.
constexpr double kDependent = 0.01;
constexpr float kOrthogonal = 2e-7F;  // cosine below which two columns are left as they are
constexpr float kSettled = 3e-4F;     // a sweep whose largest cosine was this leaves its square
constexpr float kNothing = 1e-15F;    // of the sum of squares: a column this weak is rounding
constexpr int kMostSweeps = 20;
constexpr int kPairLanes = 4;  // threads that turn a pair of columns

template <int kEach>
constexpr int kEliminationFloats = (sizeof(EliminationShared<double, kEach>) + 15) / 16 * 16 /
                                   sizeof(float);

template <int kEach>
struct SmallSvdShared {
  static constexpr int kMost = kSide * kEach;
  double length[kMost];
  float inverse[kMost], power[kMost], sigma_squared[kMost];
  int order[kMost];
  float largest_cosine, nothing;
};

/// Sum over the kPairLanes threads that turn a pair; all get it.
__device__ float sum_over_pair(float value) {
#pragma unroll
  for (int half = kPairLanes / 2; half > 0; half /= 2)
    value += __shfl_xor_sync(0xffffffffU, value, half);
  return value;
}

/// The columns of step `step` of a sweep's l - 1 that meet at `table`: a round-robin tournament.
__device__ int2 pair_at(int table, int step, int l) {
  if (table == 0) return {step, l - 1};
  int a = step + table, b = step - table;
  if (a >= l - 1) a -= l - 1;
  if (b < 0) b += l - 1;
  return {min(a, b), max(a, b)};
}

/// Turns two columns (l floats each, kPairLanes threads) so that they are orthogonal; gives the
/// cosine they had. Columns whose squared length is at most `nothing` count as orthogonal: among
/// more columns than dimensions, some never become so. Every thread of the warp takes part; those
/// without a pair have `active` false.
template <int kChunks>
__device__ float turn(float* first, float* second, int l, bool active, float nothing) {
  const int lane = int(threadIdx.x) % kPairLanes;
  float4 x[kChunks], y[kChunks];
  float xx = 0, yy = 0, xy = 0;
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int at = 4 * (lane + kPairLanes * i);
    x[i] = y[i] = float4{0, 0, 0, 0};
    if (active && at < l) {
      x[i] = *reinterpret_cast<const float4*>(first + at);
      y[i] = *reinterpret_cast<const float4*>(second + at);
    }
    xx += x[i].x * x[i].x + x[i].y * x[i].y + x[i].z * x[i].z + x[i].w * x[i].w;
    yy += y[i].x * y[i].x + y[i].y * y[i].y + y[i].z * y[i].z + y[i].w * y[i].w;
    xy += x[i].x * y[i].x + x[i].y * y[i].y + x[i].z * y[i].z + x[i].w * y[i].w;
  }
  xx = sum_over_pair(xx);
  yy = sum_over_pair(yy);
  xy = sum_over_pair(xy);
  if (!(fminf(xx, yy) > nothing)) return 0;
  const float cosine = fabsf(xy) * rsqrtf(xx) * rsqrtf(yy);
  if (!(cosine > kOrthogonal)) return cosine;
  // The angle need not be exact, only the rotation; Rutishauser's form is, the more the smaller it
  // is.
  const float zeta = __fdividef(yy - xx, 2 * xy);
  const float tangent =
      __fdividef(copysignf(1.0F, zeta), fabsf(zeta) + __fsqrt_rn(1 + zeta * zeta));
  const float c = rsqrtf(1 + tangent * tangent), s = c * tangent, tau = __fdividef(s, 1 + c);
  const auto from_first = [&](float a, float b) { return a - s * (b + tau * a); };
  const auto from_second = [&](float a, float b) { return b + s * (a - tau * b); };
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int at = 4 * (lane + kPairLanes * i);
    if (at >= l) continue;
    *reinterpret_cast<float4*>(first + at) =
        float4{from_first(x[i].x, y[i].x), from_first(x[i].y, y[i].y), from_first(x[i].z, y[i].z),
               from_first(x[i].w, y[i].w)};
    *reinterpret_cast<float4*>(second + at) =
        float4{from_second(x[i].x, y[i].x), from_second(x[i].y, y[i].y),
               from_second(x[i].z, y[i].z), from_second(x[i].w, y[i].w)};
  }
  return cosine;
}

/// Whether the columns of x (l x l) have become orthogonal.
template <int kChunks>
__device__ bool jacobi(float* x, int l, float nothing, float& largest_cosine) {
  constexpr int kPairs = kThreads / kPairLanes;
  const int group = int(threadIdx.x) / kPairLanes;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    float largest = 0;
    for (int step = 0; step < l - 1; ++step) {
      for (int table0 = 0; table0 < l / 2; table0 += kPairs) {
        const bool active = table0 + group < l / 2;
        const int2 pair = active ? pair_at(table0 + group, step, l) : int2{0, 1};
        largest = fmaxf(largest, turn<kChunks>(x + pair.x * l, x + pair.y * l, l, active, nothing));
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) largest_cosine = 0;
    __syncthreads();
    atomicMax(reinterpret_cast<int*>(&largest_cosine), __float_as_int(largest));  // both positive
    __syncthreads();
    const bool settled = largest_cosine <= kSettled;
    __syncthreads();
    if (settled) return true;
  }
  return false;
}

template <int kEach>
__global__ void __launch_bounds__(kThreads)
    small_svd_kernel(const double* __restrict__ s_ll, int l, int k, int columns,
                     double* __restrict__ sigma_squared, int stride, SmallMatrix m_lk,
                     float* __restrict__ work_ll, int* __restrict__ info) {
  extern __shared__ float4 dynamic[];
  auto& elimination = *reinterpret_cast<EliminationShared<double, kEach>*>(dynamic);
  float* x = reinterpret_cast<float*>(dynamic) + kEliminationFloats<kEach>;  // R, then U Sigma
  __shared__ SmallSvdShared<kEach> shared;
  const int image = int(blockIdx.x), thread = int(threadIdx.x);
  const double* s = s_ll + std::size_t(image) * std::size_t(l) * std::size_t(l);
  float* inverse_r = work_ll + std::size_t(image) * std::size_t(l) * std::size_t(l);
  for (int i = thread; i < l; i += kThreads) {
    const double length = sqrt(fmax(s[i * l + i], 0.0));
    shared.length[i] = length;
    shared.inverse[i] = length > 0 ? float(1 / length) : 0.0F;
    shared.power[i] = power_of_two_below(float(length));
    m_lk.scale[image * l + i] = 1.0F / shared.power[i];
  }
  __syncthreads();
  if (thread == 0) {
    double sum = 0;
    for (int i = 0; i < l; ++i) sum += shared.length[i] * shared.length[i];
    shared.nothing = kNothing * float(sum);
  }

  double w[kEach][kEach];
  fill(w, l, [&](int i, int c) {
    const double lengths = shared.length[i] * shared.length[c];
    return i == c ? 1.0 : lengths > 0 ? s[i * l + c] / lengths : 0.0;
  });
  // R^-1 has its rows scaled by powers of two; (c, i) is at i * l + c
  eliminate(w, kDependent, elimination, [&](int, int i, int c, double inverse, double r) {
    if (i >= l || c >= l) return;
    x[c * l + i] = float(r * shared.length[c]);
    inverse_r[i * l + c] = float(inverse * double(shared.inverse[c]) * double(shared.power[c]));
  });
  __syncthreads();

  constexpr int kChunks = (kSide * kEach + 4 * kPairLanes - 1) / (4 * kPairLanes);
  const bool settled = jacobi<kChunks>(x, l, shared.nothing, shared.largest_cosine);
  if (thread == 0) info[image] = settled ? 0 : 1;

  for (int i = thread / 32; i < l; i += kThreads / 32) {
    float sum = 0;
    for (int row = thread % 32; row < l; row += 32) sum += x[i * l + row] * x[i * l + row];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
    if (thread % 32 == 0) shared.sigma_squared[i] = sum;
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
  const std::size_t matrix = std::size_t(image) * std::size_t(l) * std::size_t(columns);
  for (int at = thread; at < l * columns; at += kThreads) {
    const int column = at / l, c = at % l;
    float value = 0;
    if (column < k) {
      const int from = shared.order[column];
      const float squared = shared.sigma_squared[from];
      for (int i = c; i < l; ++i) value += inverse_r[i * l + c] * x[from * l + i];
      value = squared > shared.nothing ? value * rsqrtf(squared) : 0.0F;
    }
    const __half hi = __float2half_rn(value);
    m_lk.hi[matrix + std::size_t(at)] = hi;
    m_lk.lo[matrix + std::size_t(at)] = __float2half_rn(value - __half2float(hi));
  }
}

template <int kEach>
int dynamic_bytes(int l) {
  return (kEliminationFloats<kEach> + l * l) * int(sizeof(float));
}

}  // namespace

int most_small_columns(int device) {
  int most_bytes = 0, l = 0;
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  for (int next = kSide; next <= kMostSmall; next += kSide) {
    int bytes = 0;
    for_order(next, [&]<int kEach>() {
      bytes = dynamic_bytes<kEach>(next) + int(sizeof(SmallSvdShared<kEach>));
    });
    if (std::max(bytes, int(rotate_shared_bytes(next))) <= most_bytes) l = next;
  }
  return l;
}

void small_svd(const double* s_ll, int l, int k, int columns, double* sigma_squared, int stride,
               const SmallMatrix& m_lk, float* work_ll, int* info, int count, cudaStream_t stream) {
  for_order(l, [&]<int kEach>() {
    const int bytes = dynamic_bytes<kEach>(l);
    ECKART_CUDA_CHECK(cudaFuncSetAttribute(small_svd_kernel<kEach>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    small_svd_kernel<kEach><<<unsigned(count), kThreads, std::size_t(bytes), stream>>>(
        s_ll, l, k, columns, sigma_squared, stride, m_lk, work_ll, info);
    ECKART_CUDA_CHECK(cudaGetLastError());
  });
}

}  // namespace eckart::cuda
