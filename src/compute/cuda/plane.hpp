#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace eckart::cuda {

/// Where one plane of a batch lies in the packed pixels of its slot: row-major, channels
/// interleaved. rows = 0 marks a place in the batch that no plane fills.
struct Plane {
  std::int64_t offset_bytes;  ///< of the image's first sample in the packed buffer
  int rows, cols;             ///< of the image, as it lies in memory
  int channels, channel;
  int sample_bytes;  ///< 1 or 2

  /// m >= n: the sides of the matrix A that the solvers see; A is the plane, transposed if it is
  /// wide.
  __host__ __device__ int m() const { return rows >= cols ? rows : cols; }
  __host__ __device__ int n() const { return rows >= cols ? cols : rows; }
  /// Index, in samples, of A(i, j).
  __host__ __device__ std::int64_t sample(int i, int j) const {
    const std::int64_t row = rows >= cols ? i : j, col = rows >= cols ? j : i;
    return (row * cols + col) * channels + channel;
  }
};

}  // namespace eckart::cuda
