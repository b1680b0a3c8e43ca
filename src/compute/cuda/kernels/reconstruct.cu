#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/tile_store.cuh"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 256;  // 16 x 16 threads, kThreadSide x kThreadSide elements each
constexpr int kThreadSide = 4;
constexpr int kSide = kTile / kThreadSide;
constexpr int kDepth = 16;  // columns of P and V in shared memory at a time

/// First the columns of the factors, then the finished tile.
union ReconstructShared {
  struct {
    double p[kDepth][kTile];
    double v[kDepth][kTile];
  } columns;
  ReconstructTile tile;
};

/// Computes the tile of P V' in shared.tile[i][j]. Elements outside the plane are undefined.
__device__ void multiply(const double* p, const double* v, const Factors& f, int m, int n, int i0,
                         int j0, int k, ReconstructShared& shared) {
  const int thread = int(threadIdx.x), tx = thread % kSide, ty = thread / kSide;
  double sum[kThreadSide][kThreadSide] = {};
  for (int t0 = 0; t0 < k; t0 += kDepth) {
    for (int at = thread; at < kDepth * kTile; at += kThreads) {
      const auto [t, x] = run_position(at, kTile, 1);
      const bool is_inside = t0 + t < k;
      shared.columns.p[t][x] = is_inside && i0 + x < m ? p[(t0 + t) * f.p_column + i0 + x] : 0.0;
      shared.columns.v[t][x] = is_inside && j0 + x < n ? v[(t0 + t) * f.v_column + j0 + x] : 0.0;
    }
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kDepth; ++t) {
      double a[kThreadSide], b[kThreadSide];
#pragma unroll
      for (int e = 0; e < kThreadSide; ++e) {
        a[e] = shared.columns.p[t][ty + kSide * e];
        b[e] = shared.columns.v[t][tx + kSide * e];
      }
#pragma unroll
      for (int r = 0; r < kThreadSide; ++r) {
#pragma unroll
        for (int c = 0; c < kThreadSide; ++c) sum[r][c] += a[r] * b[c];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kThreadSide; ++r) {
#pragma unroll
    for (int c = 0; c < kThreadSide; ++c)
      shared.tile.at[ty + kSide * r][tx + kSide * c] = sum[r][c];
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads)
    reconstruct_kernel(const std::byte* __restrict__ pixels, const PlaneLayout* __restrict__ planes,
                       int m, int n, int rank, const int* __restrict__ chosen_ranks,
                       Factors factors, std::byte* __restrict__ out,
                       TileError* __restrict__ errors) {
  __shared__ ReconstructShared shared;
  const PlaneLayout plane = planes[blockIdx.z];
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  TileError* error = errors + (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (i0 >= plane.m() || j0 >= plane.n()) {  // uniform over the block
    if (threadIdx.x == 0) *error = TileError{0, 0, 0.0};
    return;
  }
  const int plane_rank = chosen_ranks ? chosen_ranks[blockIdx.z] : min(rank, plane.n());
  if (plane_rank < 0) return;
  multiply(factors.p_mk + blockIdx.z * factors.p_plane, factors.v_nk + blockIdx.z * factors.v_plane,
           factors, m, n, i0, j0, plane_rank, shared);
  store_tile_and_errors<kThreads>(shared.tile, plane, pixels, i0, j0, out, error);
}

}  // namespace

void reconstruct(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
                 int rank, const int* chosen_ranks, const Factors& factors, std::byte* out,
                 TileError* errors, cudaStream_t stream) {
  const dim3 grid(tiles(n), tiles(m), unsigned(count));
  reconstruct_kernel<<<grid, kThreads, 0, stream>>>(pixels, planes, m, n, rank, chosen_ranks,
                                                    factors, out, errors);
  check_launch("reconstruct_kernel", grid, kThreads);
}

}  // namespace eckart::compute::cuda
