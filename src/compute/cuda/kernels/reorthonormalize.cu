#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/reorthonormalize.hpp"
#include "compute/cuda/kernels/shared_memory.cuh"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 256;
// a block computes kSide x kSide elements of E, or corrects kRows rows of U
constexpr int kSide = 32;
constexpr int kDepth = 64;  // rows of U in shared memory at a time
constexpr int kRows = 64;
// U'U - 1 on the diagonal is -1 for a column of zeros, and near 0 for all others.
constexpr float kZeroColumnThreshold = -0.5F;

/// Access to a matrix stored as hi + lo.
template <class Half>
struct SplitMatrix {
  Half *hi, *lo;
  int rows;
  __device__ std::size_t index(int row, int column) const {
    return std::size_t(column) * std::size_t(rows) + std::size_t(row);
  }
  __device__ float at(int row, int column) const {
    return __half2float(hi[index(row, column)]) + __half2float(lo[index(row, column)]);
  }
};

template <class Half>
__device__ SplitMatrix<Half> matrix(Half* u_split, int m, int columns) {
  const std::size_t block = std::size_t(m) * std::size_t(columns);
  Half* hi = u_split + 2 * block * blockIdx.x;
  return {hi, hi + block, m};
}

template <class Float>
__device__ Float* correction(Float* e_cc, int columns) {
  return e_cc + std::size_t(blockIdx.x) * std::size_t(columns) * std::size_t(columns);
}

/// Computes -T with T = E above the diagonal, E / 2 on it, and 0 below; E = U'U - I.
__global__ void __launch_bounds__(kThreads)
    correction_kernel(const __half* __restrict__ u_split, int m, int columns, float scale,
                      const int* __restrict__ needs_correction, float* __restrict__ e_cc) {
  if (needs_correction[blockIdx.x] == 0) return;
  __shared__ float left[kSide][kDepth + 1], right[kSide][kDepth + 1];
  const SplitMatrix<const __half> u = matrix(u_split, m, columns);
  const int i0 = int(blockIdx.y) * kSide, j0 = int(blockIdx.z) * kSide;
  const int x = int(threadIdx.x) % kSide, y = int(threadIdx.x) / kSide;
  constexpr int kThreadElements = kSide * kSide / kThreads;
  // float64 sums of float32 parts: a long float32 sum would lose E in rounding
  double sum[kThreadElements] = {};
  for (int row0 = 0; row0 < m; row0 += kDepth) {
    __syncthreads();
    for (int at = int(threadIdx.x); at < kSide * kDepth; at += kThreads) {
      const auto [column, row] = run_position(at, kDepth, 1);
      const bool is_inside = row0 + row < m;
      left[column][row] = is_inside && i0 + column < columns ? u.at(row0 + row, i0 + column) : 0.0F;
      right[column][row] =
          is_inside && j0 + column < columns ? u.at(row0 + row, j0 + column) : 0.0F;
    }
    __syncthreads();
    float part[kThreadElements] = {};
    for (int row = 0; row < kDepth; ++row) {
#pragma unroll
      for (int e = 0; e < kThreadElements; ++e)
        part[e] += left[y + e * (kThreads / kSide)][row] * right[x][row];
    }
#pragma unroll
    for (int e = 0; e < kThreadElements; ++e) sum[e] += double(part[e]);
  }
#pragma unroll
  for (int e = 0; e < kThreadElements; ++e) {
    const int i = i0 + y + e * (kThreads / kSide), j = j0 + x;
    if (i >= columns || j >= columns) continue;
    const auto product = float(sum[e] / (double(scale) * double(scale)) - (i == j ? 1.0 : 0.0));
    const bool is_zero_column =
        i == j && product < kZeroColumnThreshold;  // a column of zeros stays zero
    const float share = i < j ? 1.0F : i == j && !is_zero_column ? 0.5F : 0.0F;
    correction(e_cc, columns)[i * columns + j] = -share * product;
  }
}

__global__ void __launch_bounds__(kThreads)
    correct_kernel(__half* __restrict__ u_split, int m, int columns,
                   const int* __restrict__ needs_correction, const float* __restrict__ e_cc) {
  if (needs_correction[blockIdx.x] == 0) return;
  extern __shared__ float rows[];  // [column][row]
  const SplitMatrix<__half> u = matrix(u_split, m, columns);
  const int row0 = int(blockIdx.y) * kRows;
  for (int at = int(threadIdx.x); at < columns * kRows; at += kThreads) {
    const int row = row0 + at % kRows;
    rows[at] = row < m ? u.at(row, at / kRows) : 0.0F;
  }
  __syncthreads();
  const float* e = correction(e_cc, columns);
  for (int at = int(threadIdx.x); at < columns * kRows; at += kThreads) {
    const int row = row0 + at % kRows, column = at / kRows;
    if (row >= m) continue;
    float sum = 0;
    for (int j = 0; j <= column; ++j) sum += rows[j * kRows + at % kRows] * e[j * columns + column];
    const float value = rows[at] + sum;
    const __half hi = __float2half_rn(value);
    u.hi[u.index(row, column)] = hi;
    u.lo[u.index(row, column)] = __float2half_rn(value - __half2float(hi));
  }
}

}  // namespace

void reorthonormalize(__half* u_split, int m, int columns, float scale, const int* needs_correction,
                      float* e_cc, int count, cudaStream_t stream) {
  const auto sides = unsigned(tile_count(columns, kSide));
  const dim3 correction_grid(unsigned(count), sides, sides);
  correction_kernel<<<correction_grid, kThreads, 0, stream>>>(u_split, m, columns, scale,
                                                              needs_correction, e_cc);
  check_launch("correction_kernel", correction_grid, kThreads);
  const std::size_t bytes = std::size_t(columns) * kRows * sizeof(float);
  allow_all_shared_memory(correct_kernel);
  const dim3 grid(unsigned(count), unsigned(tile_count(m, kRows)));
  correct_kernel<<<grid, kThreads, bytes, stream>>>(u_split, m, columns, needs_correction, e_cc);
  check_launch("correct_kernel", grid, kThreads, bytes);
}

}  // namespace eckart::compute::cuda
