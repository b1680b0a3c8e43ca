#include <algorithm>

#include "compute/cuda/kernels/elimination.cuh"
#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/jacobi.cuh"
#include "compute/cuda/kernels/small_svd.hpp"

namespace eckart::compute::cuda {
namespace {

// Share of the sum of squared norms; a smaller column is rounding.
constexpr float kNegligible = 1e-15F;
// Share of a column's squared norm that is orthogonal to the columns before it.
constexpr float kIllConditionedShare = 0.01F;
constexpr int kThreadColumns = 16;  // columns of M per thread at a time

/// Sum over the block. Every thread gets the result.
template <int kTiles>
__device__ float sum_over_block(float value, JacobiShared<kTiles>& shared) {
  for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(0xffffffffU, value, half);
  if (threadIdx.x % 32 == 0) shared.sum[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (const float part : shared.sum) sum += part;
  return sum;
}

template <int kTiles>
__global__ void __launch_bounds__(kJacobiThreads<kTiles>, kJacobiBlocks<kTiles>)
    jacobi_kernel(const double* __restrict__ s_ll, const float* __restrict__ inverse_ll, int k,
                  int columns, double* __restrict__ sigma_squared, int stride, SmallMatrix m_lk,
                  int* __restrict__ info, int* __restrict__ ill_conditioned) {
  constexpr int l = 16 * kTiles, kThreads = kJacobiThreads<kTiles>;
  extern __shared__ float4 dynamic[];
  auto& shared = *reinterpret_cast<JacobiShared<kTiles>*>(dynamic);
  const int image = int(blockIdx.x), thread = int(threadIdx.x);
  const int lane = thread % kLanes, group = thread / kLanes;
  const std::size_t matrix = std::size_t(image) * l * l;
  const float* r = reinterpret_cast<const float*>(s_ll + matrix);

  Column<kTiles> left[2], right[2];
  float norms = 0;
  bool is_ill_conditioned = false;
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    Column<kTiles>& column = i < 2 ? left[i] : right[i - 2];
    const int c = kColumns * group + i;
#pragma unroll
    for (int e = 0; e < kTiles; ++e)
      column.at[e] = *reinterpret_cast<const float2*>(r + c * l + jacobi_row(lane, e));
    column.scale = column.inverse_scale = 1;
    column.squared_norm = dot(column, column);
    const float own = r[c * l + c];
    is_ill_conditioned =
        is_ill_conditioned || (own > 0 && own * own < kIllConditionedShare * column.squared_norm);
    norms += column.squared_norm / kLanes;
    if (lane == 0) {
      const float power = power_of_two_below(sqrtf(column.squared_norm));
      shared.power[c] = power;
      m_lk.scale[image * l + c] = 1.0F / power;
    }
  }
  const float negligible = kNegligible * sum_over_block(norms, shared);
  const bool has_converged = jacobi(left, right, negligible, shared);
  if (thread == 0) info[image] = has_converged ? 0 : 1;
  is_ill_conditioned = __syncthreads_or(is_ill_conditioned);
  if (thread == 0) ill_conditioned[image] = is_ill_conditioned ? 1 : 0;

#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    Column<kTiles>& column = i < 2 ? left[i] : right[i - 2];
    const int c = kColumns * group + i;
    apply_scale(column);
    const bool is_number = column.squared_norm >= 0;  // NaN has no order
    if (lane == 0) shared.sigma_squared[c] = is_number ? column.squared_norm : 0.0F;
    if (lane == 0 && !is_number) info[image] = 1;
#pragma unroll
    for (int e = 0; e < kTiles; ++e)
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

  // M = R^-1 U: a thread computes one row, kThreadColumns columns at a time
  const float* inverse = inverse_ll + matrix;
  const std::size_t to = std::size_t(image) * l * std::size_t(columns);
  const int c = thread % l, first_row = c / 32 * 32;  // R^-1 is zero in the rows before
  for (int j0 = thread / l * kThreadColumns; j0 < columns; j0 += kThreads / l * kThreadColumns) {
    const float* x[kThreadColumns];
    float value[kThreadColumns] = {};
#pragma unroll
    for (int j = 0; j < kThreadColumns; ++j) x[j] = shared.x[shared.order[j0 + j]];
    for (int i = first_row; i < l; i += 4) {
      float by[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) by[e] = inverse[(i + e) * l + c];
#pragma unroll
      for (int j = 0; j < kThreadColumns; ++j) {
        const float4 rows = *reinterpret_cast<const float4*>(x[j] + i);
        value[j] += by[0] * rows.x + by[1] * rows.y + by[2] * rows.z + by[3] * rows.w;
      }
    }
#pragma unroll
    for (int j = 0; j < kThreadColumns; ++j) {
      const float squared = shared.sigma_squared[shared.order[j0 + j]];
      const bool is_used = j0 + j < k && squared > negligible;
      const float element = is_used ? value[j] * shared.power[c] * rsqrtf(squared) : 0.0F;
      const __half hi = __float2half_rn(element);
      const std::size_t at = to + std::size_t(j0 + j) * l + std::size_t(c);
      m_lk.hi[at] = hi;
      m_lk.lo[at] = __float2half_rn(element - __half2float(hi));
    }
  }
}

}  // namespace

int max_float16_columns(int device) {
  int max_shared_bytes = 0;
  ECKART_CUDA_CHECK(
      cudaDeviceGetAttribute(&max_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return largest_order(max_shared_bytes, [](int l) {
    int bytes = int(rotate_shared_bytes(l));
    dispatch_order(l, [&]<int kTiles>() {
      bytes = std::max({bytes, int(sizeof(EliminationShared<double, kTiles>)),
                        int(sizeof(JacobiShared<kTiles>))});
    });
    return bytes;
  });
}

void small_svd(double* s_ll, int l, int k, int columns, double* sigma_squared, int stride,
               const SmallMatrix& m_lk, float* work_ll, int* info, int* ill_conditioned, int count,
               cudaStream_t stream) {
  cholesky_float32(s_ll, l, work_ll, count, stream);
  dispatch_order(l, [&]<int kTiles>() {
    constexpr int kBytes = sizeof(JacobiShared<kTiles>);
    ECKART_CUDA_CHECK(cudaFuncSetAttribute(jacobi_kernel<kTiles>,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
    jacobi_kernel<kTiles><<<unsigned(count), kJacobiThreads<kTiles>, kBytes, stream>>>(
        s_ll, work_ll, k, columns, sigma_squared, stride, m_lk, info, ill_conditioned);
    check_launch("jacobi_kernel", unsigned(count), kJacobiThreads<kTiles>, kBytes);
  });
}

}  // namespace eckart::compute::cuda
