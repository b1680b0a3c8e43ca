#pragma once

namespace eckart::bench::cuda {

/// C = A diag(s) B as multiply_naive(). A block of kTile x kTile threads computes a tile of C. It
/// copies tiles of A and B to shared memory first, so each element is read from memory kTile times
/// less often. Each product still needs two reads of shared memory.
template <class Real, bool kIsScaled, int kTile>
__global__ void multiply_shared_tiles(const Real* a_mk, const Real* s_k, const Real* b_kn,
                                      Real* c_mn, int m, int n, int k) {
  __shared__ Real a[kTile][kTile];
  __shared__ Real b[kTile][kTile];
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  const int i = int(blockIdx.y) * kTile + y, j = int(blockIdx.x) * kTile + x;
  Real sum = 0;
  for (int t0 = 0; t0 < k; t0 += kTile) {
    a[y][x] = i < m && t0 + x < k ? a_mk[i * k + t0 + x] : Real(0);
    b[y][x] = j < n && t0 + y < k ? b_kn[(t0 + y) * n + j] : Real(0);
    if (kIsScaled && t0 + y < k) b[y][x] *= s_k[t0 + y];
    __syncthreads();  // the tiles are complete
    for (int t = 0; t < kTile; ++t) sum += a[y][t] * b[t][x];
    __syncthreads();  // nobody reads the tiles any more
  }
  if (i < m && j < n) c_mn[i * n + j] = sum;
}

}  // namespace eckart::bench::cuda
