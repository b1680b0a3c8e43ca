#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/matrix_view.hpp"

namespace eckart::compute::cpu {

/// Copies the samples of A (m x n) row by row, which is A' in column-major order. Returns
/// ||A||_F^2.
template <class T>
double load_samples(MatrixView<const T> a_mn, std::vector<double>& a_t_nm) {
  double squared_norm = 0;
  a_t_nm.resize(std::size_t(a_mn.rows) * std::size_t(a_mn.cols));
  auto to = a_t_nm.begin();
  for (int row = 0; row < a_mn.rows; ++row) {
    for (int col = 0; col < a_mn.cols; ++col) {
      const double value = a_mn(row, col);
      squared_norm += value * value;
      *to++ = value;
    }
  }
  return squared_norm;
}

/// Clamps to 0 ... peak and rounds to nearest even.
inline double rounded_sample(double value, int peak) {
  return std::nearbyint(std::clamp(value, 0.0, double(peak)));
}

}  // namespace eckart::compute::cpu
