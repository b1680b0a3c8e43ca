#pragma once

#include <cstdint>

#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {

constexpr int kQuadSamples = 4;  // samples that a thread processes at a time

/// The number of samples in the next quad of a row with `columns_left` columns left; 0 if it is
/// negative.
ECKART_HOST_DEVICE inline int samples_in_quad(int columns_left) {
  return larger(0, smaller(kQuadSamples, columns_left));
}

/// The eight quads of a thread, four neighboring samples each: four rows, eight apart, and two
/// columns, sixteen apart. Positions are relative to the first sample of the first quad.
struct QuadLayout {
  static constexpr int kCount = 8;
  /// The position of a lane's quads in the 32 x 32 elements of its warp. An even lane has its own
  /// columns and those of the next lane; an odd lane has the columns eight further right.
  ECKART_HOST_DEVICE static constexpr Position origin(int lane) {
    const int t = lane % 4;
    return {lane / 4, t % 2 != 0 ? 2 * t + 6 : 2 * t};
  }
  /// The position of the q-th quad relative to the first.
  ECKART_HOST_DEVICE static constexpr Position offset(int q) { return {q / 2 * 8, q % 2 * 16}; }

  /// The 16 x 8 products that contain the q-th quad: two adjacent ones, the first from an even
  /// lane, the second from an odd lane. product_element() is the first of the two elements in each.
  ECKART_HOST_DEVICE static constexpr int product_row(int q) { return q / 4; }
  ECKART_HOST_DEVICE static constexpr int product_column(int q) { return q % 2 * 2; }
  ECKART_HOST_DEVICE static constexpr int product_element(int q) { return q / 2 % 2 * 2; }
};

/// The index of the plane's (row, column) in the row-major samples of its image, with interleaved
/// channels.
ECKART_HOST_DEVICE inline std::int64_t sample_index(const PlaneLayout& plane, int row, int column) {
  return (std::int64_t(row) * plane.cols + column) * plane.channels + plane.channel;
}

/// The bytes of four neighboring samples of a plane with one channel.
ECKART_HOST_DEVICE inline int quad_bytes(const PlaneLayout& plane) {
  return kQuadSamples * plane.sample_bytes;
}

/// True if all quads of this plane are complete and can be accessed as one aligned word of four
/// samples. Quads begin at multiples of four columns.
ECKART_HOST_DEVICE inline bool has_aligned_quads(const PlaneLayout& plane) {
  return plane.channels == 1 && plane.cols % kQuadSamples == 0 &&
         plane.offset_bytes % quad_bytes(plane) == 0;
}

}  // namespace eckart::compute::cuda
