#pragma once

// The kernels in this folder also compile for the host, for tests of their results: they include
// nothing. tests/unit/bench/cuda_on_host.hpp has what they need there.

namespace eckart::bench::cuda {

/// C = A diag(s) B, or A B if not kIsScaled: A is m x k, B is k x n, all row-major. Each thread
/// computes one element. It reads a row of A and a column of B from memory, so each element of A is
/// read n times; only the caches help.
template <class Real, bool kIsScaled>
__global__ void multiply_naive(const Real* a_mk, const Real* s_k, const Real* b_kn, Real* c_mn,
                               int m, int n, int k) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= m || j >= n) return;
  Real sum = 0;
  for (int t = 0; t < k; ++t) {
    // Neighboring threads read neighboring elements of B: one access to memory for the warp.
    const Real product = a_mk[i * k + t] * b_kn[t * n + j];
    sum += kIsScaled ? s_k[t] * product : product;
  }
  c_mn[i * n + j] = sum;
}

}  // namespace eckart::bench::cuda
