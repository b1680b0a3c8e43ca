#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "compute/backend.hpp"
#include "core/matrix_view.hpp"

namespace eckart::compute::cpu {

/// One plane of an image, transposed if it is wide, so that m >= n, and one output per rank. T is
/// std::uint8_t or std::uint16_t, and `peak` its largest value; or float, without a peak.
///
/// Solvers compute with samples multiplied by `scale`, a power of two, and so are their results.
/// Their spectra are those of the samples.
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
  double scale = 1;  ///< see float_scale(); 1 for integers
  /// If not null: where the triplets are wanted, with rows and columns of the plane, before it was
  /// transposed. The plane is then computed in float64: an iteration ends when the sum of the
  /// triplets is accurate, long before each of them is.
  Factors* factors = nullptr;
  int min_factor_rank = 0;  ///< see Task::min_factor_rank

  /// The number of triplets to compute.
  int max_rank() const {
    int largest = min_factor_rank;
    for (const Output& output : outputs) largest = output.rank > largest ? output.rank : largest;
    return largest;
  }
  /// The outputs from the largest rank to the smallest. The largest is computed first: if it is not
  /// accurate enough, the others need not be computed.
  std::vector<const Output*> outputs_by_descending_rank() const {
    std::vector<const Output*> sorted;
    for (const Output& output : outputs) sorted.push_back(&output);
    std::ranges::stable_sort(sorted, std::greater<>(), [](const Output* of) { return of->rank; });
    return sorted;
  }
};

}  // namespace eckart::compute::cpu
