#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/certificate.hpp"
#include "compute/cuda/layout/plane_layout.hpp"

namespace eckart::cuda {

/// The size of a batch for a solver: `count` planes padded to m x n, m >= n, wanted at these
/// ranks, each at most n.
struct Problem {
  int m, n, count;
  std::vector<int> ranks;
  int columns;     ///< that subspace iteration works with
  int iterations;  ///< and how many of it
  /// The largest.
  int rank() const { return *std::max_element(ranks.begin(), ranks.end()); }
};

/// What a solver tells of a plane's singular values.
enum class ValueOrder {
  ascending_squares,  ///< sigma^2, the smallest first
  descending,         ///< sigma, the largest first
  ritz  ///< sigma^2 of A Q, the largest first, and then as many refined ones as wanted
};
struct SpectrumFormat {
  ValueOrder order;
  int columns;                 ///< how many values, the leading ones, at least the rank
  int rayleigh_quotients = 0;  ///< and how many refined ones, see RitzValues
  Precision precision = Precision::float64;
  int values() const { return columns + rayleigh_quotients; }
};

/// A plane's values as sigma^2 of its samples: descending, and then the refined ones.
std::vector<double> squared_values(const SpectrumFormat& spectrum, std::span<const double> values,
                                   int sample_bytes);

/// Sets energy and certificate of a plane whose rank and residual are known.
void set_energy_and_loss(PlaneResult& result, const SpectrumFormat& spectrum,
                         std::span<const double> values, const PlaneLayout& plane,
                         double squared_norm);

}  // namespace eckart::cuda
