#pragma once

namespace eckart::bench::cuda {

/// c = a + b for n elements. Each thread adds elements at the distance of all threads of the grid,
/// so that neighboring threads always read neighboring elements.
template <class Real>
__global__ void add_coalesced(const Real* a, const Real* b, Real* c, int n) {
  const int threads = int(gridDim.x * blockDim.x);
  for (int i = int(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += threads) c[i] = a[i] + b[i];
}

}  // namespace eckart::bench::cuda
