#pragma once

#include "core/matrix_view.hpp"

namespace eckart::compute::cpu {

/// The matrix, transposed if it has fewer rows than columns.
template <class T>
MatrixView<T> as_tall(MatrixView<T> view) {
  return view.rows >= view.cols ? view : view.transposed();
}

}  // namespace eckart::compute::cpu
