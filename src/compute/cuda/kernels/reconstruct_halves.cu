#include <algorithm>
#include <tuple>
#include <utility>

#include "compute/cuda/kernels/reconstruct_halves.hpp"
#include "compute/cuda/kernels/tensor_core.cuh"
#include "compute/cuda/kernels/tile_store.cuh"
#include "compute/cuda/kernels/unpack_halves.hpp"

namespace eckart::cuda {
namespace {

constexpr int kThreads = 128;  // 2 x 2 warps, 32 x 32 elements each
constexpr int kDepth = 32;     // columns of U and V in shared memory at a time
constexpr int kStride = kTile + 8;
constexpr int kBlocks = 4;  // on a multiprocessor
constexpr int kRanksAtOnce = 8;

/// Ranks in ascending order, and which output each is.
struct Ranks {
  int count;
  int rank[kRanksAtOnce], output[kRanksAtOnce];
};

struct Columns {
  __half u_hi[kDepth][kStride], u_lo[kDepth][kStride];
  __half v_hi[kDepth][kStride], v_lo[kDepth][kStride];
};
struct Shared {
  Columns columns;
  Tile<float> tile;
};

/// kDepth columns' 64 rows from row0; zeros outside.
__device__ void stage(const __half* from, int rows, int columns, int column0, int row0,
                      __half (&to)[kDepth][kStride]) {
  for (int at = int(threadIdx.x); at < kDepth * kTile / 8; at += kThreads) {
    const int column = at / (kTile / 8), row = at % (kTile / 8) * 8;
    const bool in = column0 + column < columns && row0 + row < rows;
    const uint4 none{0, 0, 0, 0};
    *reinterpret_cast<uint4*>(&to[column][row]) =
        in ? *reinterpret_cast<const uint4*>(
                 from + std::size_t(column0 + column) * std::size_t(rows) + std::size_t(row0 + row))
           : none;
  }
}

/// Of a pair of B's elements (k, k + 1), those with k < limit.
__device__ unsigned below(unsigned pair, int k, int limit) {
  return k + 1 < limit ? pair : k < limit ? pair & 0xffffU : 0U;
}

/// sum += the product of 16 columns, of which those from `limit` on count as zero.
__device__ void multiply(const Columns& shared, int k, int limit, int row, int column,
                         float (&sum)[2][4][4]) {
  const int lane = int(threadIdx.x) % 32, t = lane % 4 * 2;
  unsigned u_hi[2][4], u_lo[2][4], v_hi[2][4], v_lo[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    tensor_core::load_a_transposed(u_hi[i], &shared.u_hi[k][row + 16 * i], kStride, lane);
    tensor_core::load_a_transposed(u_lo[i], &shared.u_lo[k][row + 16 * i], kStride, lane);
    tensor_core::load_b_pair(v_hi[i], &shared.v_hi[k][column + 16 * i], kStride, lane);
    tensor_core::load_b_pair(v_lo[i], &shared.v_lo[k][column + 16 * i], kStride, lane);
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      v_hi[i][b] = below(v_hi[i][b], t + b % 2 * 8, limit);
      v_lo[i][b] = below(v_lo[i][b], t + b % 2 * 8, limit);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int pair = j / 2, b = j % 2 * 2;
      tensor_core::multiply_add(sum[i][j], u_hi[i], v_lo[pair][b], v_lo[pair][b + 1]);
      tensor_core::multiply_add(sum[i][j], u_lo[i], v_hi[pair][b], v_hi[pair][b + 1]);
      tensor_core::multiply_add(sum[i][j], u_hi[i], v_hi[pair][b], v_hi[pair][b + 1]);
    }
  }
}

__device__ void copy(const float (&from)[2][4][4], float (&to)[2][4][4]) {
#pragma unroll
  for (int e = 0; e < 32; ++e) to[e / 16][e / 4 % 4][e % 4] = from[e / 16][e / 4 % 4][e % 4];
}

__device__ void add(const float (&from)[2][4][4], float (&to)[2][4][4]) {
#pragma unroll
  for (int e = 0; e < 32; ++e) to[e / 16][e / 4 % 4][e % 4] += from[e / 16][e / 4 % 4][e % 4];
}

__device__ void lay_out(const float (&sum)[2][4][4], float scale, int row, int column,
                        Tile<float>& tile) {
  const int lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        tile.at[row + 16 * i + g + e / 2 * 8][column + 8 * j + t + e % 2] = scale * sum[i][j][e];
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads, kBlocks)
    reconstruct_halves_kernel(const std::byte* __restrict__ pixels,
                              const Plane* __restrict__ planes, int m, int n, Ranks ranks,
                              SplitFactors factors, std::byte* __restrict__ out,
                              std::size_t out_stride, TileError* __restrict__ errors,
                              std::size_t errors_stride) {
  __shared__ __align__(16) Shared shared;
  const Plane plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  TileError* error = errors + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (i0 >= plane.m() || j0 >= plane.n()) {  // the same for the whole block
    if (int(threadIdx.x) < ranks.count)
      error[std::size_t(ranks.output[threadIdx.x]) * errors_stride] = TileError{0, 0, 0.0};
    return;
  }
  const int warp = int(threadIdx.x) / 32, row = warp / 2 * 32, column = warp % 2 * 32;
  const std::size_t u_block = std::size_t(m) * std::size_t(factors.columns);
  const std::size_t v_block = std::size_t(n) * std::size_t(factors.columns);
  const __half* u = factors.u + 2 * u_block * blockIdx.z;
  const __half* v = factors.v + 2 * v_block * blockIdx.z;
  const float scale = factors.scale / float(half_scale(plane.sample_bytes));
  // The first columns' products, which are nearly all of the sum, are added last: what the tensor
  // cores cut off is then a share of the rest alone.
  float head[2][4][4] = {}, sum[2][4][4] = {};
  int next = 0;  // of the ranks
  for (int k = 0;; k += 16) {
    if (k % kDepth == 0) {
      __syncthreads();
      stage(u, m, factors.columns, k, i0, shared.columns.u_hi);
      stage(u + u_block, m, factors.columns, k, i0, shared.columns.u_lo);
      stage(v, n, factors.columns, k, j0, shared.columns.v_hi);
      stage(v + v_block, n, factors.columns, k, j0, shared.columns.v_lo);
      __syncthreads();
    }
    for (; next < ranks.count && ranks.rank[next] <= k + 16; ++next) {  // ends among these 16
      float ending[2][4][4];
      copy(sum, ending);
      multiply(shared.columns, k % kDepth, ranks.rank[next] - k, row, column, ending);
      add(head, ending);
      lay_out(ending, scale, row, column, shared.tile);
      __syncthreads();
      const auto output = std::size_t(ranks.output[next]);
      finish<kThreads>(shared.tile, plane, pixels, i0, j0, out + output * out_stride,
                       error + output * errors_stride);
      __syncthreads();
    }
    if (next == ranks.count) return;
    if (k == 0) {
      multiply(shared.columns, 0, 16, row, column, head);
    } else {
      multiply(shared.columns, k % kDepth, 16, row, column, sum);
    }
  }
}

}  // namespace

void reconstruct_halves(const std::byte* pixels, const Plane* planes, int count, int m, int n,
                        const std::vector<int>& ranks, const SplitFactors& factors, std::byte* out,
                        std::size_t out_stride, TileError* errors, std::size_t errors_stride,
                        cudaStream_t stream) {
  std::vector<std::pair<int, int>> ascending;  // rank, output
  for (const int rank : ranks) ascending.emplace_back(std::min(rank, n), int(ascending.size()));
  std::sort(ascending.begin(), ascending.end());
  const dim3 grid(tiles(n), tiles(m), unsigned(count));
  for (std::size_t first = 0; first < ascending.size(); first += kRanksAtOnce) {
    Ranks some{int(std::min<std::size_t>(kRanksAtOnce, ascending.size() - first)), {}, {}};
    for (int i = 0; i < some.count; ++i) {
      std::tie(some.rank[i], some.output[i]) = ascending[first + std::size_t(i)];
    }
    reconstruct_halves_kernel<<<grid, kThreads, 0, stream>>>(
        pixels, planes, m, n, some, factors, out, out_stride, errors, errors_stride);
    ECKART_CUDA_CHECK(cudaGetLastError());
  }
}

}  // namespace eckart::cuda
