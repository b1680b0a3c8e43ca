#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/zero_extra_columns.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void zero_extra_columns_kernel(const PlaneLayout* __restrict__ planes, int n,
                                          double* __restrict__ v_nk, std::int64_t v_plane,
                                          std::int64_t v_column) {
  const int column = int(blockIdx.x), plane = int(blockIdx.y);
  if (column < planes[plane].n()) return;
  double* v = v_nk + plane * v_plane + column * v_column;
  for (int j = int(threadIdx.x); j < n; j += kThreads) v[j] = 0.0;
}

}  // namespace

void zero_extra_columns(const PlaneLayout* planes, int count, int n, int columns, double* v_nk,
                        std::int64_t v_plane, std::int64_t v_column, cudaStream_t stream) {
  const dim3 grid{unsigned(columns), unsigned(count)};
  zero_extra_columns_kernel<<<grid, kThreads, 0, stream>>>(planes, n, v_nk, v_plane, v_column);
  check_launch("zero_extra_columns_kernel", grid, kThreads);
}

}  // namespace eckart::compute::cuda
