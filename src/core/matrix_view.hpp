#pragma once

#include <cstddef>

namespace eckart {

/// A view of a rows x cols matrix; owns no memory. Strides are in elements.
template <class T>
struct MatrixView {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t col_stride = 1;

  T& operator()(int row, int col) const { return data[row * row_stride + col * col_stride]; }
  MatrixView transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  MatrixView<const T> as_const() const { return {data, rows, cols, row_stride, col_stride}; }
};

}  // namespace eckart
