#pragma once

#include <cstddef>
#include <span>

#include "core/matrix_view.hpp"

namespace eckart::compute::cpu {

// Conversions between pixels and float32, in contiguous loops that compilers vectorize. T is
// std::uint8_t, std::uint16_t or float.

/// Copies a plane's samples to, or from, contiguous rows.
template <class T>
void gather(MatrixView<const T> from, T* to);
template <class T>
void scatter(const T* from, MatrixView<T> to);

/// Converts samples, multiplied by `scale`, to float32, exactly.
template <class T>
void to_float(std::span<const T> samples, float* values, double scale = 1);

/// Returns the sum of squares of samples, multiplied by `scale`, a power of two. It is exact for 8
/// bits, and for 16 bits up to 2^21 samples, where it can exceed 2^53. Above that its relative
/// error is at most float64's epsilon per block. For floats it is at most (rows + cols) epsilon if
/// the samples are those of a plane.
template <class T>
double squared_norm(std::span<const T> samples, double scale = 1);

struct SquaredErrors {
  double residual = 0;       ///< before clamping and rounding
  double squared_error = 0;  ///< after clamping and rounding; exact up to 2^53

  SquaredErrors& operator+=(const SquaredErrors& other) {
    residual += other.residual;
    squared_error += other.squared_error;
    return *this;
  }
};

/// Clamps to 0 ... peak and rounds half to even into `stored`; if the samples are
/// floats, only divides by `scale`. Returns the errors against `samples`, multiplied by `scale`.
/// `originals` are these as float32: see to_float().
template <class T>
SquaredErrors round_and_compare(const float* values, const float* originals,
                                std::span<const T> samples, int peak, T* stored, double scale = 1);

}  // namespace eckart::compute::cpu
