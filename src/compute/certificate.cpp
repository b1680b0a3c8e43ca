#include "compute/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/quality.hpp"

namespace eckart::compute {
namespace {

// The relative error of float32 factors. Columns below this share of the largest singular value are
// rounding.
constexpr double kFloat32FactorError = 1e-7;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// The squared error added by factors with a relative error of `share`, in the worst case that it
/// is parallel to the residual: (sqrt(R) + share ||A||)^2 - R.
double factor_rounding(double share, double residual, double squared_norm) {
  return 2 * share * std::sqrt(squared_norm * residual) + share * share * squared_norm;
}

/// The squared error added by factors whose products are summed in float32, and the error of
/// measuring the residual. The
/// largest loss found was 2e-11 ||A||^2, on flat images with specks.
double summation_rounding(int k, double residual, double squared_norm) {
  constexpr double kBaseError = 1e-10, kErrorPerColumn = 1e-12;
  return (kBaseError + k * kErrorPerColumn) * squared_norm + kSummationError * residual;
}

/// The squared error that rounding can add to the rank-k error of exact factors, including the
/// error of measuring it.
double rounding_error(Precision precision, int k, int n, double residual, double squared_norm) {
  switch (precision) {
    case Precision::float16:
      return summation_rounding(k, residual, squared_norm);
    case Precision::float32:
      return factor_rounding(kFloat32FactorError, residual, squared_norm) +
             summation_rounding(k, residual, squared_norm);
    case Precision::float64_gram:
      return n * kEpsilon * squared_norm;
    case Precision::float64:
      break;
  }
  return factor_rounding(n * kEpsilon, residual, squared_norm);
}

/// The loss in dB of an error `residual` if the optimum is `residual` - `gap`.
double gap_to_db(double residual, double gap) {
  if (!(gap < residual)) return std::numeric_limits<double>::infinity();
  return -10 * std::log10(1 - gap / residual);
}

}  // namespace

LossEstimate estimate_loss(const RitzValues& values, int k, double residual, double squared_norm,
                           Precision precision) {
  if (is_negligible(residual)) return {0, 0};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto l = values.ritz.size();
  const auto rank = std::size_t(k);
  // The outside energy is computed from the residual. ||A||^2 - sum theta_i would be lost in the
  // rounding error of the largest theta_i.
  const double inside_energy =
      std::accumulate(values.ritz.begin() + std::ptrdiff_t(rank), values.ritz.end(), 0.0);
  const double outside_energy = std::max(0.0, residual - inside_energy);
  const double mean_outside = outside_energy / std::max(1.0, double(values.n) - double(l));
  const double middle_value = values.ritz[(rank + l) / 2];
  const double mu =
      middle_value >= mean_outside ? std::max(middle_value, 2 * mean_outside) : outside_energy;
  constexpr double kMinRatio = 0.99, kMaxRatio = 2, kRitzRounding = 3e-6;
  double missed_energy = 0;
  double rounding = rounding_error(precision, k, values.n, residual, squared_norm);
  for (std::size_t i = 0; i < rank; ++i) {
    const double theta = values.ritz[i], quotient = values.rayleigh_quotients[i];
    if (!(quotient >= kMinRatio * theta && quotient <= kMaxRatio * theta))
      return {kInfinity, kInfinity};
    missed_energy += theta > mu ? std::max(0.0, quotient - theta) * mu / (theta - mu) : kInfinity;
    if (theta - quotient > kRitzRounding * theta) rounding += theta - quotient;
  }
  return {gap_to_db(residual, 2 * missed_energy + rounding), gap_to_db(residual, rounding)};
}

double full_decomposition_loss_bound_db(std::span<const double> sigma_squared, int k, int m, int n,
                                        double residual, double squared_norm, Precision precision,
                                        bool is_integer) {
  if (is_negligible(residual)) return 0;
  const auto rank = std::ptrdiff_t(k);
  const double leading = std::accumulate(sigma_squared.begin(), sigma_squared.begin() + rank, 0.0);
  double optimum = 0;  // a lower bound of sum_{i>k} sigma_i^2
  if (precision == Precision::float64_gram) {
    // Each of the k eigenvalues may be too small by the backward error; their sum, and the
    // difference from ||A||^2, round by at most n epsilon ||A||^2. For integers, A'A is exact.
    const double input_rounding = is_integer ? 0 : (k + 1.0) * (m + n);
    optimum = squared_norm - leading -
              ((k * kBackwardError + 1) * n + input_rounding) * kEpsilon * squared_norm;
  } else {
    // Weyl: each sigma_i may be too large by delta, so the norm of the last n - k by sqrt(n - k)
    // delta.
    const double trailing =
        std::accumulate(sigma_squared.begin() + rank, sigma_squared.end(), 0.0) *
        (1 - n * kEpsilon);
    const double delta = kBackwardError * (m + n) * kEpsilon * std::sqrt(sigma_squared.front());
    const double norm = std::sqrt(trailing) - std::sqrt(n - k) * delta;
    optimum = norm > 0 ? norm * norm : 0;
  }
  if (!(optimum > 0)) return std::numeric_limits<double>::infinity();
  return std::max(0.0, 10 * std::log10(residual * (1 + kSummationError) / optimum));
}

double loss_estimate_db(int k, int n, double residual, double squared_norm, Precision precision) {
  if (is_negligible(residual)) return 0;
  return gap_to_db(residual, rounding_error(precision, k, n, residual, squared_norm));
}

}  // namespace eckart::compute
