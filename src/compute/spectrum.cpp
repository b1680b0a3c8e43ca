#include "compute/spectrum.hpp"

#include <algorithm>

namespace eckart::compute {
namespace {

/// Adds the smallest values first, so that small terms are not lost in rounding.
double sum(std::span<const double> descending) {
  double total = 0;
  for (auto it = descending.rbegin(); it != descending.rend(); ++it) total += std::max(*it, 0.0);
  return total;
}

}  // namespace

double energy(std::span<const double> leading, double squared_norm) {
  return squared_norm > 0 ? std::min(1.0, sum(leading) / squared_norm) : 1.0;
}

double optimal_error(std::span<const double> sigma_squared, int k) {
  return sum(sigma_squared.subspan(std::size_t(k)));
}

}  // namespace eckart::compute
