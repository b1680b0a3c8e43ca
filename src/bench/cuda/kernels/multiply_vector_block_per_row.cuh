#pragma once

namespace eckart::bench::cuda {

/// The threads of a block of multiply_vector_block_per_row().
constexpr int kBlockThreads = 128;

/// c = A b: A is m x n, row-major. A block computes one element: its threads read along the row of
/// A, which is coalesced, and add their sums in shared memory.
template <class Real>
__global__ void multiply_vector_block_per_row(const Real* a_mn, const Real* b_n, Real* c_m, int n) {
  __shared__ Real sums[kBlockThreads];
  const int thread = int(threadIdx.x), i = int(blockIdx.x);
  Real sum = 0;
  for (int j = thread; j < n; j += kBlockThreads) sum += a_mn[i * n + j] * b_n[j];
  sums[thread] = sum;
  for (int half = kBlockThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) sums[thread] += sums[thread + half];
  }
  if (thread == 0) c_m[i] = sums[0];
}

}  // namespace eckart::bench::cuda
