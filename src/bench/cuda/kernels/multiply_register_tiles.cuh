#pragma once

namespace eckart::bench::cuda {

/// The threads of a block of multiply_register_tiles(): kRegisterThreads x kRegisterThreads.
constexpr int kRegisterThreads = 16;

/// C = A diag(s) B as multiply_naive(). A block of 256 threads computes a tile of 16 kSide x 16
/// kSide elements, each thread kSide x kSide of them in registers: kSide + kSide reads of shared
/// memory for kSide x kSide products.
template <class Real, bool kIsScaled, int kSide>
__global__ void __launch_bounds__(kRegisterThreads* kRegisterThreads)
    multiply_register_tiles(const Real* a_mk, const Real* s_k, const Real* b_kn, Real* c_mn, int m,
                            int n, int k) {
  constexpr int kTile = kRegisterThreads * kSide, kDepth = 16;
  __shared__ Real a[kDepth][kTile + 1];  // transposed; the extra column avoids bank conflicts
  __shared__ Real b[kDepth][kTile];
  const int x = int(threadIdx.x), y = int(threadIdx.y), thread = y * kRegisterThreads + x;
  const int i0 = int(blockIdx.y) * kTile, j0 = int(blockIdx.x) * kTile;
  Real sum[kSide][kSide] = {};
  for (int t0 = 0; t0 < k; t0 += kDepth) {
    for (int at = thread; at < kTile * kDepth; at += kRegisterThreads * kRegisterThreads) {
      const int i = at / kDepth, ta = at % kDepth;  // neighboring threads read along a row of A
      a[ta][i] = i0 + i < m && t0 + ta < k ? a_mk[(i0 + i) * k + t0 + ta] : Real(0);
      const int tb = at / kTile, j = at % kTile;  // and along a row of B
      const bool is_inside = j0 + j < n && t0 + tb < k;
      b[tb][j] = is_inside ? b_kn[(t0 + tb) * n + j0 + j] : Real(0);
      if (kIsScaled && is_inside) b[tb][j] *= s_k[t0 + tb];
    }
    __syncthreads();
    for (int t = 0; t < kDepth; ++t) {
      Real row[kSide], column[kSide];
      for (int e = 0; e < kSide; ++e) {
        column[e] = a[t][y + kRegisterThreads * e];
        row[e] = b[t][x + kRegisterThreads * e];
      }
      for (int r = 0; r < kSide; ++r) {
        for (int c = 0; c < kSide; ++c) sum[r][c] += column[r] * row[c];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kSide; ++r) {
    for (int c = 0; c < kSide; ++c) {
      const int i = i0 + y + kRegisterThreads * r, j = j0 + x + kRegisterThreads * c;
      if (i < m && j < n) c_mn[i * n + j] = sum[r][c];
    }
  }
}

}  // namespace eckart::bench::cuda
