#pragma once

namespace eckart::bench::cuda {

/// Sums over the pixels of a block.
struct PixelErrors {
  double squared_norm;   ///< of the original pixels
  double squared_error;  ///< of the rounded pixels
  double residual;       ///< squared error before rounding
};

}  // namespace eckart::bench::cuda
