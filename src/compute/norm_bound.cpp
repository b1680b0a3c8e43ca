#include "compute/norm_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eckart::compute {
namespace {

constexpr double kAlpha = 7;
// Much more than the relative rounding error of a probe in float64.
constexpr double kRoundingSlack = 1 + 1e-6;

/// log(x T_d(2x - 1)^2) for x >= 1. Increases with x.
double log_amplification(double x, int degree) {
  const double angle = degree * std::acosh(2 * x - 1);
  // log cosh(angle) without overflow
  return std::log(x) + 2 * (angle + std::log1p(std::exp(-2 * angle)) - std::numbers::ln2);
}

}  // namespace

double squared_norm_bound(double largest_squared_probe, int degree, double cutoff) {
  const double squared_bound =
      kAlpha * kAlpha * 2 / std::numbers::pi * largest_squared_probe * kRoundingSlack;
  if (degree == 0) return squared_bound;
  // Find the largest x = ||C||_2^2 / cutoff that is consistent with the probes.
  const double target = std::log(std::max(squared_bound / cutoff, 1.0));
  double low = 1, high = std::exp(target);
  constexpr int kBisections = 60;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = std::sqrt(low * high);
    (log_amplification(middle, degree) <= target ? low : high) = middle;
  }
  return high * cutoff;
}

}  // namespace eckart::compute
