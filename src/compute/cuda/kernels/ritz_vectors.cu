#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
/// Share of the largest eigenvalue that excludes only zeros. An eigenvalue of zero is computed as
/// about 1e-16 of the largest, and is kept.
constexpr double kNegligible = 1e-28;

__global__ void __launch_bounds__(kThreads)
    whiten_kernel(double* __restrict__ w_ll, const double* __restrict__ ascending, int l, int k,
                  double* __restrict__ descending, int stride) {
  const int column = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (column >= l) return;
  const double* values = ascending + std::size_t(blockIdx.y) * std::size_t(l);
  const double value = fmax(values[column], 0.0);
  if (lane == 0)
    descending[std::size_t(blockIdx.y) * std::size_t(stride) + std::size_t(l - 1 - column)] = value;
  if (column < l - k) return;
  const double scale = value > kNegligible * values[l - 1] ? 1 / sqrt(value) : 0.0;
  double* w =
      w_ll + (std::size_t(blockIdx.y) * std::size_t(l) + std::size_t(column)) * std::size_t(l);
  for (int row = lane; row < l; row += 32) w[row] *= scale;
}

/// For each column of Y, one warp: store(matrix index, column index, squared norm).
template <class Store>
__global__ void __launch_bounds__(kThreads)
    norms_kernel(const double* __restrict__ y, int rows, int columns, Store store) {
  const int column = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  if (column >= columns) return;
  const double* from = y + (std::size_t(blockIdx.y) * std::size_t(columns) + std::size_t(column)) *
                               std::size_t(rows);
  double sum = 0;
  for (int row = lane; row < rows; row += 32) sum += from[row] * from[row];
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  if (lane == 0) store(std::size_t(blockIdx.y), column, sum);
}

struct StoreSquaredNormsReversed {
  double* norms;
  int stride, columns;
  __device__ void operator()(std::size_t matrix, int column, double squared) const {
    norms[matrix * std::size_t(stride) + std::size_t(columns - 1 - column)] = squared;
  }
};

struct StoreNorms {
  double* norms;
  int columns;
  __device__ void operator()(std::size_t matrix, int column, double squared) const {
    norms[matrix * std::size_t(columns) + std::size_t(column)] = sqrt(squared);
  }
};

dim3 grid(int columns, int count) {
  return {unsigned(tile_count(columns, kWarps)), unsigned(count)};
}

}  // namespace

void whiten(double* w_ll, const double* ascending, int l, int k, double* descending, int stride,
            int count, cudaStream_t stream) {
  whiten_kernel<<<grid(l, count), kThreads, 0, stream>>>(w_ll, ascending, l, k, descending, stride);
  check_launch("whiten_kernel", grid(l, count), kThreads);
}

void squared_column_norms(const double* v_nk, int n, int k, double* norms, int stride, int count,
                          cudaStream_t stream) {
  norms_kernel<<<grid(k, count), kThreads, 0, stream>>>(
      v_nk, n, k, StoreSquaredNormsReversed{norms, stride, k});
  check_launch("norms_kernel", grid(k, count), kThreads);
}

void column_norms(const double* y, int rows, int l, double* norms, int count, cudaStream_t stream) {
  norms_kernel<<<grid(l, count), kThreads, 0, stream>>>(y, rows, l, StoreNorms{norms, l});
  check_launch("norms_kernel", grid(l, count), kThreads);
}

}  // namespace eckart::compute::cuda
