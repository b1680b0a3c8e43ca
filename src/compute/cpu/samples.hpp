#pragma once

#include <cstddef>
#include <span>

#include "core/matrix_view.hpp"

namespace eckart::cpu {

// Pixels to float32 and back, in loops over what lies side by side, which compilers vectorize.
// T is std::uint8_t or std::uint16_t.

/// A plane's samples, row by row.
template <class T>
void gather(MatrixView<const T> from, T* to);
template <class T>
void scatter(const T* from, MatrixView<T> to);

/// Exact in float32. Returns the sum of their squares: exact for 8 bits, and for 16 bits up to 2^21
/// samples, where it may pass 2^53. Beyond, a relative error of float64's epsilon for each block at
/// most.
template <class T>
double to_float(std::span<const T> samples, float* values);

struct SquaredErrors {
  double residual = 0;       ///< before clamping and rounding
  double squared_error = 0;  ///< of what is stored; exact up to 2^53
};

/// Clamps to 0 ... top and rounds half to even, into `stored`; compares with `samples`.
template <class T>
SquaredErrors round_and_compare(const float* values, std::span<const T> samples, int peak,
                                T* stored);

}  // namespace eckart::cpu
