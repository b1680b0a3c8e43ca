#pragma once

#include "core/image.hpp"

namespace eckart::analysis {

/// The levels that are shown as black and white.
struct DisplayRange {
  double black = 0, white = 255;  ///< black < white
};

/// All levels of 8 bits; for other samples, those from the smallest to the largest sample.
DisplayRange display_range(const Image& image);

/// Returns an image of 8 bits.
Image display_image(const Image& image, const DisplayRange& range);

/// The largest power of two, at most 64, with which at most one of 200 samples of
/// display_residual() exceeds its range.
int display_residual_gain(const Image& a, const Image& b, const DisplayRange& range);

/// Returns a - b times `gain` as an image of 8 bits, zero as gray (128). Requires the same shape.
Image display_residual(const Image& a, const Image& b, const DisplayRange& range, int gain);

}  // namespace eckart::analysis
