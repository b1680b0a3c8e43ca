#pragma once

namespace eckart::bench::cuda {

/// The warps of a block of multiply_vector_warp_per_row(), which has 32 x kRowWarps threads.
constexpr int kRowWarps = 4;

/// c = A b: A is m x n, row-major. A warp computes one element: its threads read along the row of
/// A, which is coalesced, and add their sums from register to register.
template <class Real>
__global__ void multiply_vector_warp_per_row(const Real* a_mn, const Real* b_n, Real* c_m, int m,
                                             int n) {
  const int lane = int(threadIdx.x), i = int(blockIdx.x) * kRowWarps + int(threadIdx.y);
  if (i >= m) return;  // the whole warp
  Real sum = 0;
  for (int j = lane; j < n; j += 32) sum += a_mn[i * n + j] * b_n[j];
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) c_m[i] = sum;
}

}  // namespace eckart::bench::cuda
