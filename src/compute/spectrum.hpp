#pragma once

#include <span>

namespace eckart {

/// Share of a matrix's energy that its leading singular values hold: sum_{i<=k} sigma_i^2 /
/// ||A||_F^2. `leading` holds the k largest sigma_i^2; tiny negative values, left by rounding,
/// count as zero. Between 0 and 1; 1 for the zero matrix.
double energy(std::span<const double> leading, double squared_norm);

/// The squared error of the best rank-k matrix (Eckart and Young, 1936): sum_{i>k} sigma_i^2.
/// `sigma_squared` holds all of them, descending.
double optimal_error(std::span<const double> sigma_squared, int k);

}  // namespace eckart
