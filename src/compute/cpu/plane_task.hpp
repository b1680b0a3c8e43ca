#pragma once

#include <vector>

#include "compute/backend.hpp"
#include "core/matrix_view.hpp"

namespace eckart::compute::cpu {

/// One plane of an image, transposed if it is wide, so that m >= n, and one output per rank. T is
/// std::uint8_t or std::uint16_t; `peak` is its largest value.
template <class T>
struct PlaneTask {
  struct Output {
    int rank;
    MatrixView<T> samples_mn;
    PlaneResult* result;
  };

  MatrixView<const T> a_mn;
  int peak;
  std::vector<Output> outputs;

  int max_rank() const {
    int largest = 0;
    for (const Output& output : outputs) largest = output.rank > largest ? output.rank : largest;
    return largest;
  }
};

}  // namespace eckart::compute::cpu
