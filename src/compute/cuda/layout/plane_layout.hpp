#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/layout/host_device.hpp"

namespace eckart::compute::cuda {

/// The layout of one plane of a batch in the packed pixels of its slot: row-major, channels
/// interleaved. rows = 0 marks an empty plane, which pads the batch.
struct PlaneLayout {
  std::int64_t offset_bytes;  ///< of the first sample of the image in the packed buffer
  int rows, cols;             ///< of the image in memory
  int channels, channel;
  int sample_bytes;  ///< 1 or 2: integers; 4: float32
  /// Solvers see the samples multiplied by this: 1 for integers, float_scale() for floats.
  double scale;

  /// The sides m >= n of the matrix A that the solvers see: the plane, transposed if it is wide.
  ECKART_HOST_DEVICE int m() const { return rows >= cols ? rows : cols; }
  ECKART_HOST_DEVICE int n() const { return rows >= cols ? cols : rows; }
  /// The index of A(i, j) in samples.
  ECKART_HOST_DEVICE std::int64_t element_index(int i, int j) const {
    const std::int64_t row = rows >= cols ? i : j, col = rows >= cols ? j : i;
    return (row * cols + col) * channels + channel;
  }
};

/// The factor that unpack_float16() applies to samples of this size. All samples, rounded to
/// float16, are then below 256.
ECKART_HOST_DEVICE constexpr double float16_scale(int sample_bytes) {
  return sample_bytes == 1 ? 1.0 : 1.0 / 512;
}

}  // namespace eckart::compute::cuda
