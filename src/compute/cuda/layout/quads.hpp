#pragma once

#include <cstdint>

#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/layout/tiles.hpp"

namespace eckart::cuda {

constexpr int kQuadSamples = 4;  // samples that a thread takes at a time

/// Samples, at most kQuadSamples, of a row that has so many columns left, or has ended before.
ECKART_HOST_DEVICE inline int samples_in_quad(int columns_left) {
  return larger(0, smaller(kQuadSamples, columns_left));
}

/// A thread's eight quads of four neighboring samples: four rows, eight apart, and two columns,
/// sixteen apart. Counted in samples from the first one of the first quad.
struct QuadLayout {
  static constexpr int kCount = 8;
  /// Where the quads of a lane begin in the 32 x 32 elements of its warp: of an even lane those of
  /// its own columns and the next lane's, of an odd one eight columns further.
  ECKART_HOST_DEVICE static constexpr Position origin(int lane) {
    const int t = lane % 4;
    return {lane / 4, t % 2 != 0 ? 2 * t + 6 : 2 * t};
  }
  /// The q-th, from the first on.
  ECKART_HOST_DEVICE static constexpr Position offset(int q) { return {q / 2 * 8, q % 2 * 16}; }

  /// Products of 16 x 8 that the q-th comes from: two beside one another, the first of an even
  /// lane, the second of an odd one; and the first of the two elements of each.
  ECKART_HOST_DEVICE static constexpr int product_row(int q) { return q / 4; }
  ECKART_HOST_DEVICE static constexpr int product_column(int q) { return q % 2 * 2; }
  ECKART_HOST_DEVICE static constexpr int product_element(int q) { return q / 2 % 2 * 2; }
};

/// Of an image's row-major samples with interleaved channels: the index of plane's (row, column).
ECKART_HOST_DEVICE inline std::int64_t sample_index(const PlaneLayout& plane, int row, int column) {
  return (std::int64_t(row) * plane.cols + column) * plane.channels + plane.channel;
}

/// Whether quads of this plane, whose samples are of one byte, are whole where they begin at a
/// multiple of four columns, and can be moved as one aligned word.
ECKART_HOST_DEVICE inline bool has_word_aligned_quads(const PlaneLayout& plane) {
  return plane.channels == 1 && plane.cols % kQuadSamples == 0 &&
         plane.offset_bytes % kQuadSamples == 0;
}

}  // namespace eckart::cuda
