#pragma once

namespace eckart::bench::cuda {

/// The threads of a block of multiply_vector_thread_per_row().
constexpr int kRowThreads = 128;

/// c = A b: A is m x n, row-major. Each thread computes one element. Neighboring threads read
/// elements of A that are n apart. If kIsShared, the block copies parts of b to shared memory
/// first.
template <class Real, bool kIsShared>
__global__ void multiply_vector_thread_per_row(const Real* a_mn, const Real* b_n, Real* c_m, int m,
                                               int n) {
  __shared__ Real part[kRowThreads];
  const int thread = int(threadIdx.x), i = int(blockIdx.x) * kRowThreads + thread;
  Real sum = 0;
  for (int j0 = 0; j0 < n; j0 += kRowThreads) {
    if (kIsShared) {
      __syncthreads();  // nobody reads the last part any more
      if (j0 + thread < n) part[thread] = b_n[j0 + thread];
      __syncthreads();
    }
    for (int j = j0; i < m && j < j0 + kRowThreads && j < n; ++j)
      sum += a_mn[i * n + j] * (kIsShared ? part[j - j0] : b_n[j]);
  }
  if (i < m) c_m[i] = sum;
}

}  // namespace eckart::bench::cuda
