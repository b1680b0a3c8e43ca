#include "compute/cuda/check.hpp"
#include "compute/cuda/kernels/normalize_triplets.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

/// The columns of float64 factors.
struct Float64Columns {
  Factors factors;
  __device__ const double* left(int plane, int t) const {
    return factors.p_mk + plane * factors.p_plane + t * factors.p_column;
  }
  __device__ const double* right(int plane, int t) const {
    return factors.v_nk + plane * factors.v_plane + t * factors.v_column;
  }
  /// Of the product, in levels.
  __device__ static double scale(const PlaneLayout& plane) { return 1 / plane.scale; }
};

/// The columns of float16 factors, as hi + lo.
struct Float16Columns {
  struct Column {
    const __half *hi, *lo;
    __device__ double operator[](int row) const {
      return double(__half2float(hi[row])) + double(__half2float(lo[row]));
    }
  };
  SplitFactors factors;
  int m, n;
  __device__ Column column(const __half* of, int rows, int plane, int t) const {
    const std::size_t block = std::size_t(rows) * std::size_t(factors.columns);
    const __half* hi = of + 2 * block * std::size_t(plane) + std::size_t(t) * std::size_t(rows);
    return {hi, hi + block};
  }
  __device__ Column left(int plane, int t) const { return column(factors.u, m, plane, t); }
  __device__ Column right(int plane, int t) const { return column(factors.v, n, plane, t); }
  __device__ double scale(const PlaneLayout& plane) const {
    return double(factors.scale) / float16_scale(plane.sample_bytes);
  }
};

/// Returns the norm of the column. All threads of the warp take part, and get it.
template <class Column>
__device__ double normalize(const Column& column, int rows, float* to) {
  const int lane = int(threadIdx.x) % 32;
  double sum = 0;
  for (int row = lane; row < rows; row += 32) {
    const double value = column[row];
    sum += value * value;
  }
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  const double norm = sqrt(sum), inverse = norm > 0 ? 1 / norm : 0;
  for (int row = lane; row < rows; row += 32) to[row] = float(inverse * column[row]);
  return norm;
}

/// One warp for each triplet.
template <class Columns>
__global__ void __launch_bounds__(kThreads)
    normalize_triplets_kernel(const PlaneLayout* __restrict__ planes, Columns columns,
                              DeviceTriplets triplets) {
  const int t = int(blockIdx.x) * kWarps + int(threadIdx.x) / 32, p = int(blockIdx.y);
  const PlaneLayout plane = planes[p];
  const int m = plane.m(), n = plane.n();
  if (t >= smaller(triplets.layout.rank, n)) return;  // uniform over the warp
  std::byte* data = triplets.data + std::size_t(p) * triplets.layout.plane_bytes();
  auto* left = reinterpret_cast<float*>(data + triplets.layout.left_offset());
  auto* right = reinterpret_cast<float*>(data + triplets.layout.right_offset());
  const double left_norm = normalize(columns.left(p, t), m, left + std::size_t(t) * std::size_t(m));
  const double right_norm =
      normalize(columns.right(p, t), n, right + std::size_t(t) * std::size_t(n));
  if (threadIdx.x % 32 == 0)
    reinterpret_cast<double*>(data)[t] = columns.scale(plane) * left_norm * right_norm;
}

__device__ float sum_over_warp(float sum) {
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, half);
  return sum;
}

/// One block for each plane: makes the right vectors orthogonal. They nearly are.
__global__ void __launch_bounds__(kThreads)
    orthogonalize_kernel(const PlaneLayout* __restrict__ planes, DeviceTriplets triplets) {
  extern __shared__ float products[];  // of a column with those before it
  __shared__ float squares[kWarps];
  const int n = planes[blockIdx.x].n(), rank = smaller(triplets.layout.rank, n);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  auto* right = reinterpret_cast<float*>(
      triplets.data + blockIdx.x * triplets.layout.plane_bytes() + triplets.layout.right_offset());
  for (int t = 1; t < rank; ++t) {
    float* column = right + std::size_t(t) * std::size_t(n);
    for (int i = warp; i < t; i += kWarps) {
      const float* before = right + std::size_t(i) * std::size_t(n);
      float sum = 0;
      for (int row = lane; row < n; row += 32) sum += before[row] * column[row];
      sum = sum_over_warp(sum);
      if (lane == 0) products[i] = sum;
    }
    __syncthreads();
    float square = 0;
    for (int row = int(threadIdx.x); row < n; row += kThreads) {
      float value = column[row];
      for (int i = 0; i < t; ++i)
        value -= products[i] * right[std::size_t(i) * std::size_t(n) + std::size_t(row)];
      column[row] = value;
      square += value * value;
    }
    square = sum_over_warp(square);
    if (lane == 0) squares[warp] = square;
    __syncthreads();
    square = 0;
    for (const float part : squares) square += part;
    const float inverse = square > 0 ? 1 / sqrtf(square) : 0.0F;
    for (int row = int(threadIdx.x); row < n; row += kThreads) column[row] *= inverse;
    __syncthreads();  // the column is finished; products and squares are free
  }
}

template <class Columns>
void launch(const PlaneLayout* planes, int count, const Columns& columns,
            const DeviceTriplets& triplets, cudaStream_t stream) {
  if (!triplets.data) return;
  const dim3 grid(unsigned(tile_count(triplets.layout.rank, kWarps)), unsigned(count));
  normalize_triplets_kernel<<<grid, kThreads, 0, stream>>>(planes, columns, triplets);
  check_launch("normalize_triplets_kernel", grid, kThreads);
}

}  // namespace

void normalize_triplets(const PlaneLayout* planes, int count, const Factors& factors,
                        const DeviceTriplets& triplets, cudaStream_t stream) {
  launch(planes, count, Float64Columns{factors}, triplets, stream);
}

void normalize_triplets(const PlaneLayout* planes, int count, int m, int n,
                        const SplitFactors& factors, const DeviceTriplets& triplets,
                        cudaStream_t stream) {
  if (!triplets.data) return;
  launch(planes, count, Float16Columns{factors, m, n}, triplets, stream);
  const std::size_t shared = std::size_t(triplets.layout.rank) * sizeof(float);
  orthogonalize_kernel<<<unsigned(count), kThreads, shared, stream>>>(planes, triplets);
  check_launch("orthogonalize_kernel", unsigned(count), kThreads, shared);
}

}  // namespace eckart::compute::cuda
