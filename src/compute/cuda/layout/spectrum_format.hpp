#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/certificate.hpp"
#include "compute/cuda/layout/plane_layout.hpp"

namespace eckart::compute::cuda {

/// The size of a batch for a solver: `count` planes padded to m x n, m >= n, and the requested
/// ranks, each at most n.
struct Problem {
  int m, n, count;
  std::vector<int> ranks;
  int columns;     ///< columns of subspace iteration
  int iterations;  ///< iterations of subspace iteration
  /// The largest rank.
  int rank() const { return *std::max_element(ranks.begin(), ranks.end()); }
};

/// The order of the values that a solver writes for a plane.
enum class ValueOrder {
  ascending_squares,  ///< sigma^2, ascending
  descending,         ///< sigma, descending
  ritz                ///< Ritz values, descending, then Rayleigh quotients
};
struct SpectrumFormat {
  ValueOrder order;
  int columns;                 ///< number of leading values, at least the rank
  int rayleigh_quotients = 0;  ///< number of Rayleigh quotients, see RitzValues
  Precision precision = Precision::float64;
  int values() const { return columns + rayleigh_quotients; }
};

/// Converts the values of a plane to squares in the scale of its samples: descending, followed by
/// the Rayleigh quotients.
std::vector<double> squared_values(const SpectrumFormat& spectrum, std::span<const double> values,
                                   int sample_bytes);

/// Sets singular values, energy, loss estimate and loss bound of a plane. Its rank and residual
/// must be set. Returns the part of the loss estimate that rounding causes, in dB.
double set_spectral_results(PlaneResult& result, const SpectrumFormat& spectrum,
                            std::span<const double> values, const PlaneLayout& plane,
                            double squared_norm);

/// The largest error of the singular triplets of a batch with factors, see triplet_error().
constexpr double kMaxTripletError = 1e-5;

/// For subspace iteration: the largest relative difference of a Rayleigh quotient from its Ritz
/// value, of the first `rank` triplets. V = A'U has V'V = Theta + E with E = U'A (I - QQ') A'U. E
/// is positive semidefinite, and its diagonal are these differences, so no cosine of the angle
/// between two columns of V is larger. Measured, the relative errors of sigma are smaller, too.
/// Values below 1e-12 ||A||_F^2 are rounding and do not count. 0 for complete decompositions.
double triplet_error(const SpectrumFormat& spectrum, std::span<const double> values,
                     const PlaneLayout& plane, int rank, double squared_norm);

}  // namespace eckart::compute::cuda
