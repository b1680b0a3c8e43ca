#include "core/student_t.hpp"

#include <array>

namespace eckart {

double student_t(std::size_t degrees) {
  constexpr std::array<double, 30> kQuantiles = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= kQuantiles.size()) return kQuantiles[degrees - 1];
  return kNormalQuantile975 + 2.4 / double(degrees);
}

}  // namespace eckart
