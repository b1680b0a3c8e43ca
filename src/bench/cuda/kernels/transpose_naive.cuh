#pragma once

namespace eckart::bench::cuda {

/// C = A': A is m x n, C is n x m, both row-major. Neighboring threads read along a row of A, but
/// write along a column of C: each write of a warp goes to 32 places that are far apart.
template <class Real>
__global__ void transpose_naive(const Real* a_mn, Real* c_nm, int m, int n) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (i < m && j < n) c_nm[j * m + i] = a_mn[i * n + j];
}

}  // namespace eckart::bench::cuda
