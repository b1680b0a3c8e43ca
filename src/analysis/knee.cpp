#include "analysis/knee.hpp"

#include <cstddef>

namespace eckart::analysis {

int knee_rank(std::span<const double> energy) {
  const double rise = energy.back() - energy.front();
  if (!(rise > 0)) return 1;
  std::size_t knee = 0;
  double largest = 0;
  for (std::size_t i = 1; i < energy.size(); ++i) {
    const double distance =
        (energy[i] - energy.front()) / rise - double(i) / double(energy.size() - 1);
    if (distance <= largest) continue;
    largest = distance;
    knee = i;
  }
  return int(knee) + 1;
}

}  // namespace eckart::analysis
