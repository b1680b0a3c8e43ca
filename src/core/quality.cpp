#include "core/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eckart {

double psnr_db(double squared_error, std::size_t samples, int peak) {
  if (squared_error <= 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(double(peak) * peak * double(samples) / squared_error);
}

double negligible_error(double squared_norm) { return 1e-13 * squared_norm; }

double loss_db(double squared_error, double optimal_error, double squared_norm) {
  const double floor = std::max(negligible_error(squared_norm), std::numeric_limits<double>::min());
  return 10 * std::log10(std::max(squared_error, floor) / std::max(optimal_error, floor));
}

}  // namespace eckart
