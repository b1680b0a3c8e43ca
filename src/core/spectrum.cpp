#include "core/spectrum.hpp"

#include <algorithm>

namespace eckart {
namespace {

/// Smallest first, so that small terms are not lost against large ones.
double sum(std::span<const double> descending) {
  double total = 0;
  for (auto it = descending.rbegin(); it != descending.rend(); ++it) total += std::max(*it, 0.0);
  return total;
}

}  // namespace

double energy(std::span<const double> sigma_squared, int k) {
  const double all = sum(sigma_squared);
  return all > 0 ? sum(sigma_squared.first(std::size_t(k))) / all : 1.0;
}

double tail_energy(std::span<const double> sigma_squared, int k) {
  return sum(sigma_squared.subspan(std::size_t(k)));
}

}  // namespace eckart
