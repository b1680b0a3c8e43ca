#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/layout/host_device.hpp"

namespace eckart::compute::cuda {

/// The input samples of one output sample along the filtered side of an image.
struct FilterWindow {
  int first, count;
};

/// One image and a filter along one of its sides. An image is `lines` lines of in_length runs of
/// `run` samples; the filter makes lines of out_length runs:
///   out[line][x][i] = sum over t of weights[x][t] in[line][windows[x].first + t][i]
/// Along the rows of an image, its lines are the rows and a run is a pixel. Along its columns, the
/// image is one line and a run is a row.
struct FilterPass {
  std::int64_t in_bytes, out_bytes;  ///< offsets of the images in their buffers
  int sample_bytes;                  ///< 1 or 2
  int fraction_bits;                 ///< of the weights
  int lines, in_length, out_length, run;
  std::int64_t windows;  ///< index of the first window of the filter
  std::int64_t weights;  ///< index of the first weight of the filter
  int max_count;         ///< distance of the weights of neighboring windows

  /// The samples of the output.
  ECKART_HOST_DEVICE std::int64_t out_samples() const {
    return std::int64_t(lines) * out_length * run;
  }
  /// The position x along the filtered side of the output sample with this index.
  ECKART_HOST_DEVICE int position(std::int64_t out_index) const {
    return int(out_index / run % out_length);
  }
  /// The index of the first input sample of an output sample whose window begins at `first`. The
  /// next samples of the window follow at a distance of `run`.
  ECKART_HOST_DEVICE std::int64_t first_in_index(std::int64_t out_index, int first) const {
    const std::int64_t line = out_index / run / out_length;
    return (line * in_length + first) * run + out_index % run;
  }
};

/// A sum of products of samples and weights, rounded (halves up) and clamped to 0..top.
ECKART_HOST_DEVICE inline int round_filtered(std::int64_t sum, int fraction_bits, int top) {
  const std::int64_t rounded = (sum + (std::int64_t(1) << (fraction_bits - 1))) >> fraction_bits;
  return rounded < 0 ? 0 : rounded > top ? top : int(rounded);
}

}  // namespace eckart::compute::cuda
