#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/layout/host_device.hpp"

namespace eckart::cuda {

/// Where one plane of a batch lies in the packed pixels of its slot: row-major, channels
/// interleaved. rows = 0 marks a place in the batch that no plane fills.
struct PlaneLayout {
  std::int64_t offset_bytes;  ///< of the image's first sample in the packed buffer
  int rows, cols;             ///< of the image, as it lies in memory
  int channels, channel;
  int sample_bytes;  ///< 1 or 2

  /// m >= n: the sides of the matrix A that the solvers see; A is the plane, transposed if it is
  /// wide.
  ECKART_HOST_DEVICE int m() const { return rows >= cols ? rows : cols; }
  ECKART_HOST_DEVICE int n() const { return rows >= cols ? cols : rows; }
  /// Index, in samples, of A(i, j).
  ECKART_HOST_DEVICE std::int64_t element_index(int i, int j) const {
    const std::int64_t row = rows >= cols ? i : j, col = rows >= cols ? j : i;
    return (row * cols + col) * channels + channel;
  }
};

/// What unpack_float16() multiplies samples of this many bytes by: all of a plane, rounded to
/// float16, then lies below 256.
ECKART_HOST_DEVICE constexpr double float16_scale(int sample_bytes) {
  return sample_bytes == 1 ? 1.0 : 1.0 / 512;
}

}  // namespace eckart::cuda
