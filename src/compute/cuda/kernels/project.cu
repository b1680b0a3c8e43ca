#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/tensor_core.cuh"

namespace eckart::compute::cuda {
namespace {

constexpr int kRows = kProjectRows;  // a block computes kRows rows of kColumns columns of V
constexpr int kColumns = 32;
constexpr int kThreads = 128;  // four warps, each with all columns of 32 rows
constexpr int kDepth = 32;     // rows of A and U in shared memory at a time
constexpr int kRowStride = kRows + 8, kDepthStride = kDepth + 8;

/// Registers for the next part of the operands, loaded while the tensor cores multiply the current
/// part.
struct ProjectPrefetch {
  static constexpr int kA = kDepth * kRows / 8 / kThreads, kU = kDepth * kColumns / 8 / kThreads;
  uint4 a[kA], u_hi[kU], u_lo[kU];
};

struct ProjectShared {
  __half a[kDepth][kRowStride];                                       // [row of A][column of A]
  __half u_hi[kColumns][kDepthStride], u_lo[kColumns][kDepthStride];  // [column][row]
};

struct ProjectOperands {
  const __half *a_t, *u;
  int m, n, columns, row0, column0;
};

__device__ void read(const ProjectOperands& from, int k0, ProjectPrefetch& prefetch) {
  const uint4 zero{0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < ProjectPrefetch::kA; ++i) {
    const int at = int(threadIdx.x) + i * kThreads;
    const Position run = run_position(at, kRows, 8);
    const int k = k0 + run.row, row = from.row0 + run.column;
    prefetch.a[i] = k < from.m && row < from.n
                        ? *reinterpret_cast<const uint4*>(
                              from.a_t + std::size_t(k) * std::size_t(from.n) + std::size_t(row))
                        : zero;
  }
  const std::size_t block = std::size_t(from.m) * std::size_t(from.columns);
#pragma unroll
  for (int i = 0; i < ProjectPrefetch::kU; ++i) {
    const int at = int(threadIdx.x) + i * kThreads;
    const Position run = run_position(at, kDepth, 8);
    const int column = from.column0 + run.row, k = k0 + run.column;
    const bool is_inside = k < from.m && column < from.columns;
    const __half* u = from.u + std::size_t(column) * std::size_t(from.m) + std::size_t(k);
    prefetch.u_hi[i] = is_inside ? *reinterpret_cast<const uint4*>(u) : zero;
    prefetch.u_lo[i] = is_inside ? *reinterpret_cast<const uint4*>(u + block) : zero;
  }
}

__device__ void write(const ProjectPrefetch& prefetch, ProjectShared& shared) {
#pragma unroll
  for (int i = 0; i < ProjectPrefetch::kA; ++i) {
    const int at = int(threadIdx.x) + i * kThreads;
    const auto [k, row] = run_position(at, kRows, 8);
    *reinterpret_cast<uint4*>(&shared.a[k][row]) = prefetch.a[i];
  }
#pragma unroll
  for (int i = 0; i < ProjectPrefetch::kU; ++i) {
    const int at = int(threadIdx.x) + i * kThreads;
    const auto [column, k] = run_position(at, kDepth, 8);
    *reinterpret_cast<uint4*>(&shared.u_hi[column][k]) = prefetch.u_hi[i];
    *reinterpret_cast<uint4*>(&shared.u_lo[column][k]) = prefetch.u_lo[i];
  }
}

__device__ void multiply(const ProjectShared& shared, int row, float (&part)[2][4][4]) {
  const int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int k = 0; k < kDepth; k += 16) {
    unsigned a[2][4], hi[2][4], lo[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      tensor_core::load_a_transposed(a[i], &shared.a[k][row + 16 * i], kRowStride, lane);
      tensor_core::load_b_pair_transposed(hi[i], &shared.u_hi[16 * i][k], kDepthStride, lane);
      tensor_core::load_b_pair_transposed(lo[i], &shared.u_lo[16 * i][k], kDepthStride, lane);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int pair = j / 2, b = j % 2 * 2;
        tensor_core::multiply_add(part[i][j], a[i], lo[pair][b], lo[pair][b + 1]);
        tensor_core::multiply_add(part[i][j], a[i], hi[pair][b], hi[pair][b + 1]);
      }
    }
  }
}

/// sum += A'U over all rows of A, in parts: the tensor cores truncate sums, and short sums lose
/// less.
__device__ void add_product(const ProjectOperands& from, int row, ProjectShared& shared,
                            float (&sum)[2][4][4]) {
  ProjectPrefetch prefetch;
  read(from, 0, prefetch);
  for (int k = 0; k < from.m; k += kDepth) {
    float part[2][4][4] = {};
    __syncthreads();
    write(prefetch, shared);
    __syncthreads();
    if (k + kDepth < from.m) read(from, k + kDepth, prefetch);
    multiply(shared, row, part);
#pragma unroll
    for (int e = 0; e < 32; ++e) sum[e / 16][e / 4 % 4][e % 4] += part[e / 16][e / 4 % 4][e % 4];
  }
}

__global__ void __launch_bounds__(kThreads)
    project_kernel(const __half* __restrict__ a_hi_t, const __half* __restrict__ a_lo_t,
                   const __half* __restrict__ u_split, int m, int n, int columns, float scale,
                   __half* __restrict__ v_split, float* __restrict__ tile_squared_norms) {
  __shared__ __align__(16) ProjectShared shared;
  __shared__ float norms[kThreads / 32][kColumns];
  const std::size_t matrix = std::size_t(blockIdx.z) * std::size_t(m) * std::size_t(n);
  const std::size_t u_block = std::size_t(m) * std::size_t(columns);
  const std::size_t v_block = std::size_t(n) * std::size_t(columns);
  const int row0 = int(blockIdx.x) * kRows, column0 = int(blockIdx.y) * kColumns;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int warp_row = tensor_core::warp_tile(warp, 1).row;
  ProjectOperands from{a_hi_t + matrix, u_split + 2 * u_block * blockIdx.z, m, n, columns, row0,
                       column0};
  float sum[2][4][4] = {};
  if (a_lo_t) {
    from.a_t = a_lo_t + matrix;
    add_product(from, warp_row, shared, sum);
    from.a_t = a_hi_t + matrix;
  }
  add_product(from, warp_row, shared, sum);

  __half* v = v_split + 2 * v_block * blockIdx.z;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = 8 * j + tensor_core::product_element(lane, e).column;
      float squares = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {  // four rows of the warp, eight apart
        const int at = i % 2 * 2 + e;
        const float value = scale * sum[i / 2][j][at];
        squares += value * value;
        const int row = row0 + warp_row + i / 2 * 16 + tensor_core::product_element(lane, at).row;
        if (row >= n || column0 + column >= columns) continue;
        const __half hi = __float2half_rn(value);
        __half* to = v + std::size_t(column0 + column) * std::size_t(n) + std::size_t(row);
        to[0] = hi;
        to[v_block] = __float2half_rn(value - __half2float(hi));
      }
      for (int half = 4; half < 32; half *= 2)
        squares += __shfl_xor_sync(0xffffffffU, squares, half);
      if (lane / 4 == 0) norms[warp][column] = squares;
    }
  }
  __syncthreads();
  if (threadIdx.x < kColumns && column0 + int(threadIdx.x) < columns) {
    float squares = 0;
    for (int w = 0; w < kThreads / 32; ++w) squares += norms[w][threadIdx.x];
    tile_squared_norms[(std::size_t(blockIdx.z) * gridDim.x + blockIdx.x) * std::size_t(columns) +
                       std::size_t(column0) + threadIdx.x] = squares;
  }
}

__global__ void sum_norms_kernel(const float* __restrict__ tile_squared_norms, int tiles,
                                 int columns, double* __restrict__ squared_column_norms,
                                 int stride) {
  const int column = int(threadIdx.x);
  double sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    sum += double(
        tile_squared_norms[(std::size_t(blockIdx.x) * std::size_t(tiles) + std::size_t(tile)) *
                               std::size_t(columns) +
                           std::size_t(column)]);
  }
  squared_column_norms[std::size_t(blockIdx.x) * std::size_t(stride) + std::size_t(column)] = sum;
}

}  // namespace

void project(const __half* a_hi_t, const __half* a_lo_t, const __half* u_split, int m, int n,
             int columns, float scale, __half* v_split, float* tile_squared_norms,
             double* squared_column_norms, int stride, int count, cudaStream_t stream) {
  const int tiles = project_tile_count(n);
  const dim3 grid(unsigned(tiles), unsigned(tile_count(columns, kColumns)), unsigned(count));
  project_kernel<<<grid, kThreads, 0, stream>>>(a_hi_t, a_lo_t, u_split, m, n, columns, scale,
                                                v_split, tile_squared_norms);
  check_launch("project_kernel", grid, kThreads);
  sum_norms_kernel<<<unsigned(count), unsigned(columns), 0, stream>>>(
      tile_squared_norms, tiles, columns, squared_column_norms, stride);
  check_launch("sum_norms_kernel", unsigned(count), unsigned(columns));
}

}  // namespace eckart::compute::cuda
