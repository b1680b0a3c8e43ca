#pragma once

#include <span>

namespace eckart {

/// Share of the energy in the k largest of `sigma_squared` (descending): sum_{i<=k} s_i^2 / sum s_i^2.
/// 1 for the zero matrix. Rounding may have left tiny negative values; they count as zero.
double energy(std::span<const double> sigma_squared, int k);

/// What is left by the best rank-k matrix (Eckart and Young, 1936): sum_{i>k} s_i^2.
double tail_energy(std::span<const double> sigma_squared, int k);

}  // namespace eckart
