#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/tensor_core.cuh"

namespace eckart::compute::cuda {
namespace {

constexpr int kTile = 64;      // a block computes a kTile x kTile tile on or below the diagonal
constexpr int kThreads = 128;  // 2 x 2 warps, 32 x 32 elements each
constexpr int kDepth = 32;     // rows of B in shared memory at a time
constexpr int kStride = kDepth + 4;

__device__ void load_to_shared(const float* b, int rows, int l, int column0, int row0,
                               float (&to)[kTile][kStride]) {
  for (int at = int(threadIdx.x); at < kTile * kDepth / 4; at += kThreads) {
    const auto [column, row] = run_position(at, kDepth, 4);
    const bool is_inside = column0 + column < l && row0 + row < rows;
    const float4 zero{0, 0, 0, 0};
    *reinterpret_cast<float4*>(&to[column][row]) =
        is_inside
            ? *reinterpret_cast<const float4*>(
                  b + std::size_t(column0 + column) * std::size_t(rows) + std::size_t(row0 + row))
            : zero;
  }
}

__global__ void __launch_bounds__(kThreads)
    gram_float64_kernel(const float* __restrict__ b, int rows, int l, double* __restrict__ s_ll) {
  __shared__ float left[kTile][kStride], right[kTile][kStride];
  const auto [tile_row, tile_column] = triangle_tile(int(blockIdx.x));
  const int i0 = tile_row * kTile, j0 = tile_column * kTile;
  const float* matrix = b + std::size_t(blockIdx.y) * std::size_t(rows) * std::size_t(l);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const auto [row, column] = tensor_core::warp_tile(warp, 2);
  const int g = lane / 4, t = lane % 4;
  double sum[4][4][2] = {};
  for (int row0 = 0; row0 < rows; row0 += kDepth) {
    load_to_shared(matrix, rows, l, i0, row0, left);
    if (i0 != j0) load_to_shared(matrix, rows, l, j0, row0, right);
    __syncthreads();
    const auto& other = i0 == j0 ? left : right;
    for (int k = 0; k < kDepth; k += 4) {
      double x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = double(left[row + 8 * i + g][k + t]);
        y[i] = double(other[column + 8 * i + g][k + t]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) tensor_core::multiply_add(sum[i][j], x[i], y[j]);
      }
    }
    __syncthreads();
  }
  double* s = s_ll + std::size_t(blockIdx.y) * std::size_t(l) * std::size_t(l);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const Position element = tensor_core::product_element(lane, e);
        const int at_row = i0 + row + 8 * i + element.row;
        const int at_column = j0 + column + 8 * j + element.column;
        if (at_row < l && at_column < l)
          s[std::size_t(at_row) * std::size_t(l) + std::size_t(at_column)] = sum[i][j][e];
      }
    }
  }
}

}  // namespace

void gram_float64(const float* b, int rows, int l, double* s_ll, int count, cudaStream_t stream) {
  const dim3 grid(unsigned(triangle_tile_count(tile_count(l, kTile))), unsigned(count));
  gram_float64_kernel<<<grid, kThreads, 0, stream>>>(b, rows, l, s_ll);
  check_launch("gram_float64_kernel", grid, kThreads);
}

}  // namespace eckart::compute::cuda
