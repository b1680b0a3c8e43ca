#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "core/matrix_view.hpp"

namespace eckart::compute::cpu {

/// Copies the samples of A (m x n), multiplied by `scale`, row by row, which is A' in column-major
/// order. Returns ||A||_F^2 of the scaled samples.
template <class T>
double load_samples(MatrixView<const T> a_mn, double scale, std::vector<double>& a_t_nm) {
  long double squared_norm = 0;  // the sum over rows of floats is not exact in a double
  a_t_nm.resize(std::size_t(a_mn.rows) * std::size_t(a_mn.cols));
  auto to = a_t_nm.begin();
  for (int row = 0; row < a_mn.rows; ++row) {
    double squared_row_norm = 0;
    for (int col = 0; col < a_mn.cols; ++col) {
      const double value = scale * a_mn(row, col);
      squared_row_norm += value * value;
      *to++ = value;
    }
    squared_norm += squared_row_norm;
  }
  return double(squared_norm);
}

/// Clamps to 0 ... peak and rounds to nearest even; floats are only divided by `scale`.
template <class T>
T to_sample(double value, int peak, double scale) {
  if constexpr (std::is_floating_point_v<T>) return T(value / scale);
  return T(std::nearbyint(std::clamp(value, 0.0, double(peak))));
}

}  // namespace eckart::compute::cpu
