#pragma once

namespace eckart::bench::cuda {

/// The tiles of transpose_shared_tiles(), and the rows of its blocks of kTransposeTile x
/// kTransposeRows threads.
constexpr int kTransposeTile = 32, kTransposeRows = 8;

/// C = A' as transpose_naive(). A block reads a tile along its rows, and writes it from shared
/// memory along its columns, so that both are coalesced. With kPad = 0 the 32 threads that read a
/// column of the tile use the same bank of shared memory, one after the other; kPad = 1 moves each
/// row by one bank.
template <class Real, int kPad>
__global__ void transpose_shared_tiles(const Real* a_mn, Real* c_nm, int m, int n) {
  __shared__ Real tile[kTransposeTile][kTransposeTile + kPad];
  const int x = int(threadIdx.x), i0 = int(blockIdx.y) * kTransposeTile;
  const int j0 = int(blockIdx.x) * kTransposeTile;
  for (int y = int(threadIdx.y); y < kTransposeTile; y += kTransposeRows) {
    if (i0 + y < m && j0 + x < n) tile[y][x] = a_mn[(i0 + y) * n + j0 + x];
  }
  __syncthreads();
  for (int y = int(threadIdx.y); y < kTransposeTile; y += kTransposeRows) {
    if (i0 + x < m && j0 + y < n) c_nm[(j0 + y) * m + i0 + x] = tile[x][y];
  }
}

}  // namespace eckart::bench::cuda
