#include "core/quality.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eckart {
namespace {

constexpr double kHalfALevel = 0.5;
constexpr double kNegligible = kHalfALevel * kHalfALevel;

}  // namespace

double psnr_db(double squared_error, std::size_t samples, int peak) {
  if (squared_error <= 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(double(peak) * peak * double(samples) / squared_error);
}

bool negligible(double squared_error) { return squared_error < kNegligible; }

bool every_pixel_is_right(double squared_error, double residual) {
  return squared_error == 0 && std::isfinite(residual);
}

double loss_db(double squared_error, double optimal_error) {
  return 10 *
         std::log10(std::max(squared_error, kNegligible) / std::max(optimal_error, kNegligible));
}

}  // namespace eckart
