#pragma once

#include <span>

namespace eckart::compute {

/// The share of ||A||_F^2 that the leading singular values hold: sum_{i<=k} sigma_i^2 / ||A||_F^2.
/// `leading` contains the k largest sigma_i^2; small negative values from rounding count as zero.
/// Between 0 and 1; 1 for the zero matrix.
double energy(std::span<const double> leading, double squared_norm);

/// The squared error of the best rank-k matrix (Eckart and Young, 1936): sum_{i>k} sigma_i^2.
/// `sigma_squared` contains all values, descending.
double optimal_error(std::span<const double> sigma_squared, int k);

}  // namespace eckart::compute
