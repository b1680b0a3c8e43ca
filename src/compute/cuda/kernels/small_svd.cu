#include <algorithm>

#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/jacobi.cuh"
#include "compute/cuda/kernels/small_svd.hpp"

namespace eckart::cuda {
namespace {

constexpr float kNothing = 1e-15F;  // of the sum of squares: a column this weak is rounding
constexpr float kWeak = 0.01F;      // share of a column's squared length that is its own
constexpr int kColumnsAtOnce = 16;  // of M that a thread computes elements of

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
      column.at[e] = *reinterpret_cast<const float2*>(r + c * l + jacobi_row(lane, e));
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
      *reinterpret_cast<float2*>(&shared.x[c][jacobi_row(lane, e)]) = column.at[e];
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
  int most_bytes = 0;
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return largest_order(most_bytes, [](int l) {
    int bytes = int(rotate_shared_bytes(l));
    for_order(l, [&]<int kEach>() {
      bytes = std::max(
          {bytes, int(sizeof(EliminationShared<double, kEach>)), int(sizeof(JacobiShared<kEach>))});
    });
    return bytes;
  });
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
