#include "core/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eckart {
namespace {

constexpr double kRounding = 1e-13;  // what float64 leaves of a squared norm, or more

}  // namespace

double psnr_db(double squared_error, std::size_t samples, int peak) {
  if (squared_error <= 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(double(peak) * peak * double(samples) / squared_error);
}

bool negligible(double squared_error, double squared_norm) {
  constexpr double kHalfALevel = 0.5;
  return squared_error < kHalfALevel * kHalfALevel || squared_error <= kRounding * squared_norm;
}

double loss_db(double squared_error, double optimal_error, double squared_norm) {
  if (negligible(squared_error, squared_norm) && negligible(optimal_error, squared_norm)) return 0;
  const double floor = std::max(kRounding * squared_norm, std::numeric_limits<double>::min());
  return 10 * std::log10(std::max(squared_error, floor) / std::max(optimal_error, floor));
}

}  // namespace eckart
