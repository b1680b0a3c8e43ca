#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "compute/cuda/kernels/shared_memory.cuh"
#include "compute/cuda/kernels/tensor_core.cuh"
#include "compute/cuda/layout/small_matrices.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kRows = kRotateRows;  // a block computes kRows rows of kColumns columns
constexpr int kColumns = kRotateColumns;
constexpr int kThreads = 256;  // 2 x 4 warps, each with 32 columns of 32 rows
constexpr int kRowStride = RotateShared::kRowStride;

/// Loads eight elements of a column, scales them, and stores them to shared memory.
__device__ void load_to_shared(const __half* from, float scale, __half* hi, __half*) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  const auto* in = reinterpret_cast<const __half2*>(&raw);
  auto* out = reinterpret_cast<__half2*>(hi);
#pragma unroll
  // In float32, because the scale of a weak column can exceed float16.
  for (int i = 0; i < 4; ++i) {
    const float2 value = __half22float2(in[i]);
    out[i] = __float22half2_rn(float2{value.x * scale, value.y * scale});
  }
}
__device__ void load_to_shared(const float* from, float scale, __half* hi, __half* lo) {
  float4 raw[2] = {reinterpret_cast<const float4*>(from)[0],
                   reinterpret_cast<const float4*>(from)[1]};
  const auto* in = reinterpret_cast<const float*>(raw);
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    const float2 value{in[i] * scale, in[i + 1] * scale};
    const __half2 near = __float22half2_rn(value);
    const float2 kept = __half22float2(near);
    *reinterpret_cast<__half2*>(hi + i) = near;
    *reinterpret_cast<__half2*>(lo + i) =
        __float22half2_rn(float2{value.x - kept.x, value.y - kept.y});
  }
}

template <bool kSplit>
__device__ void store(__half* to, std::size_t lo_at, float x, float y) {
  const __half2 hi = __float22half2_rn(float2{x, y});
  *reinterpret_cast<__half2*>(to) = hi;
  if constexpr (kSplit) {
    const float2 kept = __half22float2(hi);
    *reinterpret_cast<__half2*>(to + lo_at) = __float22half2_rn(float2{x - kept.x, y - kept.y});
  }
}

/// Computes the transposed product, M' times the rows, so that the results of a thread are
/// neighbors in a column.
template <class From, bool kSplit>
__global__ void __launch_bounds__(kThreads)
    rotate_kernel(const From* __restrict__ from, int rows, int l, SmallMatrix m_lc, int columns,
                  bool is_upper, float factor, __half* __restrict__ to) {
  constexpr bool kFromFloat = sizeof(From) == sizeof(float);
  extern __shared__ __half shared[];
  const int image = int(blockIdx.z), r0 = int(blockIdx.x) * kRows, c0 = int(blockIdx.y) * kColumns;
  const int depth = rotate_depth(l, c0, is_upper);
  const RotateShared area(depth);
  const int m_stride = area.m_stride;
  __half* m_hi = shared;  // [column][k]
  __half* m_lo = m_hi + area.m_count;
  __half* rows_hi = m_lo + area.m_count;  // [k][row]
  __half* rows_lo = rows_hi + area.rows_count;
  const int thread = int(threadIdx.x), warp = thread / 32, lane = thread % 32;

  const std::size_t matrix = std::size_t(image) * std::size_t(l) * std::size_t(columns);
  for (int at = thread; at < kColumns * depth / 8; at += kThreads) {
    const auto [column, k] = run_position(at, depth, 8);
    const bool is_inside = c0 + column < columns;
    const std::size_t index = matrix + std::size_t(c0 + column) * std::size_t(l) + std::size_t(k);
    const uint4 zero{0, 0, 0, 0};
    *reinterpret_cast<uint4*>(m_hi + column * m_stride + k) =
        is_inside ? *reinterpret_cast<const uint4*>(m_lc.hi + index) : zero;
    *reinterpret_cast<uint4*>(m_lo + column * m_stride + k) =
        is_inside ? *reinterpret_cast<const uint4*>(m_lc.lo + index) : zero;
  }
  const From* block = from + std::size_t(image) * std::size_t(rows) * std::size_t(l);
  for (int at = thread; at < kRows / 8 * depth; at += kThreads) {
    const auto [k, row] = run_position(at, kRows, 8);
    if (r0 + row >= rows) continue;  // uninitialized rows give results that are not stored
    load_to_shared(block + std::size_t(k) * std::size_t(rows) + std::size_t(r0 + row),
                   factor * m_lc.scale[image * l + k], rows_hi + k * kRowStride + row,
                   rows_lo + k * kRowStride + row);
  }
  __syncthreads();

  const auto [warp_column, warp_row] = tensor_core::warp_tile(warp, 4);
  float sum[2][4][4] = {};
  for (int k = 0; k < depth; k += 16) {
    unsigned hi[2][4], lo[2][4], right[2][4], right_lo[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = (warp_column + 16 * i) * m_stride + k;
      tensor_core::load_a(hi[i], m_hi + at, m_stride, lane);
      tensor_core::load_a(lo[i], m_lo + at, m_stride, lane);
      const int row_at = k * kRowStride + warp_row + 16 * i;
      tensor_core::load_b_pair(right[i], rows_hi + row_at, kRowStride, lane);
      if constexpr (kFromFloat)
        tensor_core::load_b_pair(right_lo[i], rows_lo + row_at, kRowStride, lane);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int pair = j / 2, b = j % 2 * 2;
        tensor_core::multiply_add(sum[i][j], hi[i], right[pair][b], right[pair][b + 1]);
        tensor_core::multiply_add(sum[i][j], lo[i], right[pair][b], right[pair][b + 1]);
        if constexpr (kFromFloat)
          tensor_core::multiply_add(sum[i][j], hi[i], right_lo[pair][b], right_lo[pair][b + 1]);
      }
    }
  }

  const std::size_t block_size = std::size_t(rows) * std::size_t(columns);
  __half* out = to + std::size_t(image) * block_size * (kSplit ? 2 : 1);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = c0 + warp_column + 16 * i + tensor_core::product_element(lane, 0).row;
      const int row = r0 + warp_row + 8 * j + tensor_core::product_element(lane, 0).column;
      if (row >= rows) continue;
      __half* at = out + std::size_t(column) * std::size_t(rows) + std::size_t(row);
      if (column < columns) store<kSplit>(at, block_size, sum[i][j][0], sum[i][j][1]);
      if (column + 8 < columns)
        store<kSplit>(at + 8 * std::size_t(rows), block_size, sum[i][j][2], sum[i][j][3]);
    }
  }
}

template <bool kSplit, class From>
void launch(const From* from, int rows, int l, const SmallMatrix& m_lc, int columns, bool is_upper,
            float factor, __half* to, int count, cudaStream_t stream) {
  const std::size_t bytes = rotate_shared_bytes(l);
  allow_all_shared_memory(rotate_kernel<From, kSplit>);
  const dim3 grid(unsigned(tile_count(rows, kRows)), unsigned(tile_count(columns, kColumns)),
                  unsigned(count));
  rotate_kernel<From, kSplit>
      <<<grid, kThreads, bytes, stream>>>(from, rows, l, m_lc, columns, is_upper, factor, to);
  check_launch("rotate_kernel", grid, kThreads, bytes);
}

}  // namespace

void rotate(const __half* from, int rows, int l, const SmallMatrix& m_lc, int columns,
            bool is_upper, float factor, __half* to, int count, cudaStream_t stream) {
  launch<false>(from, rows, l, m_lc, columns, is_upper, factor, to, count, stream);
}

void rotate_split(const __half* from, int rows, int l, const SmallMatrix& m_lc, int columns,
                  bool is_upper, float factor, __half* to, int count, cudaStream_t stream) {
  launch<true>(from, rows, l, m_lc, columns, is_upper, factor, to, count, stream);
}

void rotate_split(const float* from, int rows, int l, const SmallMatrix& m_lc, int columns,
                  bool is_upper, float factor, __half* to, int count, cudaStream_t stream) {
  launch<true>(from, rows, l, m_lc, columns, is_upper, factor, to, count, stream);
}

}  // namespace eckart::compute::cuda
