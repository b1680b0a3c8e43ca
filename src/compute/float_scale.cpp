#include "compute/float_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eckart::compute {

double float_scale(MatrixView<const float> samples) {
  float largest = 0;
  for (int row = 0; row < samples.rows; ++row) {
    for (int col = 0; col < samples.cols; ++col)
      largest = std::max(largest, std::abs(samples(row, col)));
  }
  if (largest == 0) return 1;
  return std::ldexp(1.0, std::numeric_limits<float>::digits - 1 - std::ilogb(largest));
}

void unscale(PlaneResult& result, double scale) {
  result.squared_norm /= scale * scale;
  result.residual /= scale * scale;
  result.squared_error /= scale * scale;
  result.sigma1 /= scale;
  result.sigma_threshold /= scale;
}

}  // namespace eckart::compute
