#include "compute/cuda/kernels/async_copy.cuh"
#include "compute/cuda/kernels/quad.cuh"
#include "compute/cuda/kernels/reconstruct_float16.hpp"
#include "compute/cuda/kernels/tensor_core.cuh"
#include "compute/cuda/kernels/tile_store.cuh"
#include "compute/cuda/layout/rank_groups.hpp"
#include "compute/cuda/occupancy.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 128;        // 2 x 2 warps, 32 x 32 pixels each
constexpr int kLeadingColumns = 16;  // factor columns that stay in shared memory
constexpr int kDepth = 32;           // other factor columns at a time, double-buffered
constexpr int kStride = kTile + 8;
constexpr int kBlocksPerMultiprocessor = 4;  // resident blocks for __launch_bounds__

/// The factors of a plane in the orientation of its image: image = left right'.
struct OrientedFactors {
  const __half *left, *right;  ///< hi, followed by lo
  int rows, cols;              ///< of the padded image
};

/// Columns of both factors for one tile.
template <int kCount>
struct FactorColumns {
  __half left[2][kCount][kStride], right[2][kCount][kStride];  // hi and lo
};
struct ReconstructFloat16Shared {
  FactorColumns<kLeadingColumns> leading;
  FactorColumns<kDepth> columns[2];  // one in use, one being loaded
  TileError errors[kMaxGroupRanks][kThreads / 32];
};

/// Starts the copy of kTile rows of kCount columns, from row0 and column0. Writes zeros outside the
/// matrix.
template <int kCount>
__device__ void copy_columns(const __half* from, int rows, int columns, int column0, int row0,
                             __half (&to)[2][kCount][kStride]) {
  const std::size_t block = std::size_t(rows) * std::size_t(columns);
#pragma unroll
  for (int i = 0; i < kCount * kTile / 8 / kThreads; ++i) {
    const int at = int(threadIdx.x) + i * kThreads;
    const auto [column, row] = run_position(at, kTile, 8);
    const bool is_inside = column0 + column < columns && row0 + row < rows;
    const __half* source = is_inside ? from + std::size_t(column0 + column) * std::size_t(rows) +
                                           std::size_t(row0 + row)
                                     : from;
    copy_async<16>(&to[0][column][row], source, is_inside);
    copy_async<16>(&to[1][column][row], source + (is_inside ? block : 0), is_inside);
  }
}

/// Masks a pair of elements (k, k + 1) of B: zero if the index is not below `limit`.
__device__ unsigned mask_from(unsigned pair, int k, int limit) {
  return k + 1 < limit ? pair : k < limit ? pair & 0xffffU : 0U;
}

/// sum += the product of 16 columns. Columns from `limit` on count as zero.
template <int kCount>
__device__ void multiply(const FactorColumns<kCount>& shared, int k, int limit, int row, int column,
                         float (&sum)[2][4][4]) {
  const int lane = int(threadIdx.x) % 32, t = lane % 4 * 2;
  unsigned left[2][2][4], right[2][2][4];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      tensor_core::load_a_transposed(left[half][i], &shared.left[half][k][row + 16 * i], kStride,
                                     lane);
      tensor_core::load_b_pair(right[half][i], &shared.right[half][k][column + 16 * i], kStride,
                               lane);
      if (limit >= 16) continue;
#pragma unroll
      for (int b = 0; b < 4; ++b)
        right[half][i][b] = mask_from(right[half][i][b], t + b % 2 * 8, limit);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int pair = j / 2, b = j % 2 * 2;
      tensor_core::multiply_add(sum[i][j], left[0][i], right[1][pair][b], right[1][pair][b + 1]);
      tensor_core::multiply_add(sum[i][j], left[1][i], right[0][pair][b], right[0][pair][b + 1]);
      tensor_core::multiply_add(sum[i][j], left[0][i], right[0][pair][b], right[0][pair][b + 1]);
    }
  }
}

__device__ void copy(const float (&from)[2][4][4], float (&to)[2][4][4]) {
#pragma unroll
  for (int e = 0; e < 32; ++e) to[e / 16][e / 4 % 4][e % 4] = from[e / 16][e / 4 % 4][e % 4];
}

/// Clamps, rounds and stores the warp's 32 x 32 pixels, beginning at (row, column) of the image.
/// Writes the sum of the warp's errors to `error`. A thread holds two neighbors of a row; it
/// exchanges them with the next thread, so that each stores four neighbors.
template <class Samples>
__device__ void store_pixels(const float (&product)[2][4][4], float scale, const PlaneLayout& plane,
                             int row, int column, const std::byte* pixels, std::byte* out,
                             TileError& error) {
  const int lane = int(threadIdx.x) % 32, t = lane % 4;
  const bool is_odd = t % 2 != 0;
  const QuadGrid<Samples> quads(plane, row + QuadLayout::origin(lane).row,
                                column + QuadLayout::origin(lane).column);
  constexpr int kPrefetchQuads = QuadGrid<Samples>::kPrefetchQuads;
  Quad<Samples> before[kPrefetchQuads];
  QuadErrors<Samples> errors;
#pragma unroll
  for (int q = 0; q < QuadGrid<Samples>::kQuads; ++q) {
    if (q % kPrefetchQuads == 0) quads.load(pixels, q, before);
    const auto& first = product[QuadLayout::product_row(q)][QuadLayout::product_column(q)];
    const auto& second = product[QuadLayout::product_row(q)][QuadLayout::product_column(q) + 1];
    const int at = QuadLayout::product_element(q);
    const float received[2] = {
        __shfl_xor_sync(0xffffffffU, is_odd ? first[at] : second[at], 1),
        __shfl_xor_sync(0xffffffffU, is_odd ? first[at + 1] : second[at + 1], 1)};
    float values[kQuadSamples] = {
        is_odd ? received[0] : first[at], is_odd ? received[1] : first[at + 1],
        is_odd ? second[at] : received[0], is_odd ? second[at + 1] : received[1]};
    const int count = quads.count(q);
#pragma unroll
    for (int e = 0; e < kQuadSamples; ++e) values[e] = e < count ? scale * values[e] : 0.0F;
    quads.store(out, q, errors.add(values, before[q % kPrefetchQuads]));
  }
  const TileError sum = sum_over_warp(
      {double(errors.squared_norm), double(errors.squared_error), double(errors.residual)});
  if (lane == 0) error = sum;
}

/// The ranks that were chosen for a plane, for the outputs of the group, in ascending order. None
/// if one of them could not be chosen.
__device__ RankGroup chosen_group(const RankGroup& group, const int* chosen_ranks, int count,
                                  int plane) {
  RankGroup chosen;
  chosen.count = group.count;
  for (int i = 0; i < group.count; ++i) {
    const int output = group.output[i];
    const int rank = chosen_ranks[std::size_t(output) * std::size_t(count) + plane];
    if (rank < 0) {
      chosen.count = 0;
      break;
    }
    int at = i;
    for (; at > 0 && chosen.rank[at - 1] > rank; --at) {
      chosen.rank[at] = chosen.rank[at - 1];
      chosen.output[at] = chosen.output[at - 1];
    }
    chosen.rank[at] = rank;
    chosen.output[at] = output;
  }
  return chosen;
}

template <bool kHasChosenRanks>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    reconstruct_float16_kernel(const std::byte* __restrict__ pixels,
                               const PlaneLayout* __restrict__ planes, int m, int n,
                               RankGroup group, const int* __restrict__ chosen_ranks,
                               SplitFactors factors, std::byte* __restrict__ out,
                               std::size_t out_stride, TileError* __restrict__ errors,
                               std::size_t errors_stride) {
  __shared__ __align__(16) ReconstructFloat16Shared shared;
  const PlaneLayout plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  TileError* error = errors + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (i0 >= plane.m() || j0 >= plane.n()) {  // uniform over the block
    if (int(threadIdx.x) < group.count)
      error[std::size_t(group.output[threadIdx.x]) * errors_stride] = TileError{0, 0, 0.0};
    return;
  }
  __shared__ RankGroup chosen;
  if constexpr (kHasChosenRanks) {
    if (threadIdx.x == 0)
      chosen = chosen_group(group, chosen_ranks, int(gridDim.z), int(blockIdx.z));
    __syncthreads();
    if (chosen.count == 0) return;
  }
  const RankGroup& ranks = kHasChosenRanks ? chosen : group;
  const bool is_wide = plane.rows < plane.cols;
  const int warp = int(threadIdx.x) / 32, row = tensor_core::warp_tile(warp, 2).row,
            column = tensor_core::warp_tile(warp, 2).column;
  const int row0 = is_wide ? j0 : i0, column0 = is_wide ? i0 : j0;  // of the tile in the image
  const __half* u =
      factors.u + 2 * std::size_t(m) * std::size_t(factors.columns) * std::size_t(blockIdx.z);
  const __half* v =
      factors.v + 2 * std::size_t(n) * std::size_t(factors.columns) * std::size_t(blockIdx.z);
  const OrientedFactors oriented =
      is_wide ? OrientedFactors{v, u, n, m} : OrientedFactors{u, v, m, n};
  const auto copy_factor_columns = [&](int k, auto& to) {
    copy_columns(oriented.left, oriented.rows, factors.columns, k, row0, to.left);
    copy_columns(oriented.right, oriented.cols, factors.columns, k, column0, to.right);
    end_copy_group();
  };
  const float scale = factors.scale / float(float16_scale(plane.sample_bytes));
  int next = 0;  // index of the next rank to store
  const int max_rank = ranks.rank[ranks.count - 1];
  const auto store = [&](const float(&product)[2][4][4]) {
    std::byte* to = out + std::size_t(ranks.output[next]) * out_stride;
    TileError& sum = shared.errors[next][warp];
    if (plane.sample_bytes == 1) {
      store_pixels<std::uint8_t>(product, scale, plane, row0 + row, column0 + column, pixels, to,
                                 sum);
    } else {
      store_pixels<std::uint16_t>(product, scale, plane, row0 + row, column0 + column, pixels, to,
                                  sum);
    }
    ++next;
  };
  copy_factor_columns(0, shared.leading);
  if (max_rank > kLeadingColumns) copy_factor_columns(kLeadingColumns, shared.columns[0]);
  wait_for_copy_groups<0>();
  __syncthreads();
  while (next < ranks.count && ranks.rank[next] <= kLeadingColumns) {
    float product[2][4][4] = {};
    multiply(shared.leading, 0, ranks.rank[next], row, column, product);
    store(product);
  }
  // The leading columns contribute most of the sum, so their products are added last. The tensor
  // cores then truncate only relative to the smaller rest.
  float rest[2][4][4] = {};
  for (int k = 0; next < ranks.count; k += 16) {
    const FactorColumns<kDepth>& columns = shared.columns[k / kDepth % 2];
    const int first = kLeadingColumns + k;  // first column of the 16
    if (k % kDepth == 0) {
      if (k > 0) {
        wait_for_copy_groups<0>();
        __syncthreads();  // these columns are loaded; the other buffer is free
      }
      if (first + kDepth < max_rank)
        copy_factor_columns(first + kDepth, shared.columns[(k / kDepth + 1) % 2]);
    }
    // The rank ends in these 16 columns.
    while (next < ranks.count && ranks.rank[next] <= first + 16) {
      float product[2][4][4];
      copy(rest, product);
      multiply(columns, k % kDepth, ranks.rank[next] - first, row, column, product);
      multiply(shared.leading, 0, kLeadingColumns, row, column, product);
      store(product);
    }
    if (next < ranks.count) multiply(columns, k % kDepth, 16, row, column, rest);
  }
  __syncthreads();
  if (int(threadIdx.x) < ranks.count) {
    TileError total{0, 0, 0.0};
    for (const TileError& part : shared.errors[threadIdx.x]) {
      total.squared_norm += part.squared_norm;
      total.squared_error += part.squared_error;
      total.residual += part.residual;
    }
    error[std::size_t(ranks.output[threadIdx.x]) * errors_stride] = total;
  }
}

}  // namespace

void reconstruct_float16(const std::byte* pixels, const PlaneLayout* planes, int count, int m,
                         int n, const std::vector<int>& ranks, const int* chosen_ranks,
                         const SplitFactors& factors, std::byte* out, std::size_t out_stride,
                         TileError* errors, std::size_t errors_stride, cudaStream_t stream) {
  const dim3 grid(tiles(n), tiles(m), unsigned(count));
  const auto kernel =
      chosen_ranks ? reconstruct_float16_kernel<true> : reconstruct_float16_kernel<false>;
  for (const RankGroup& group : rank_groups(ranks, n)) {
    kernel<<<grid, kThreads, 0, stream>>>(pixels, planes, m, n, group, chosen_ranks, factors, out,
                                          out_stride, errors, errors_stride);
    check_launch("reconstruct_float16_kernel", grid, kThreads);
  }
}

double reconstruct_float16_occupancy() {
  return occupancy(reconstruct_float16_kernel<false>, kThreads);
}

}  // namespace eckart::compute::cuda
