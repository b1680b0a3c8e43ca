#pragma once

namespace eckart::bench::cuda {

/// c = a + b for n elements. Each thread adds a part of neighboring elements of its own, as a
/// thread of a CPU would. The reads of a warp then go to 32 places that are far apart.
template <class Real>
__global__ void add_strided(const Real* a, const Real* b, Real* c, int n) {
  const int threads = int(gridDim.x * blockDim.x), part = (n + threads - 1) / threads;
  const int begin = int(blockIdx.x * blockDim.x + threadIdx.x) * part;
  for (int i = begin; i < begin + part && i < n; ++i) c[i] = a[i] + b[i];
}

}  // namespace eckart::bench::cuda
