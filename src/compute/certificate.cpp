#include "compute/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/quality.hpp"

namespace eckart {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// What rounding of the factors, a `share` of ||A||_F, adds to an error should it point the same
/// way.
double factor_rounding(double share, double residual, double squared_norm) {
  return 2 * share * std::sqrt(squared_norm * residual) + share * share * squared_norm;
}

/// Factors that are products added up in float32: columns of 1e-7 of the largest singular value are
/// rounding, and so is what they add to an error, squared. Of the squared norm 2e-11 was lost at
/// most, on flat images with specks.
double summation_rounding(int k, double residual, double squared_norm) {
  constexpr double kBaseError = 1e-10, kErrorPerColumn = 1e-12;
  return (kBaseError + k * kErrorPerColumn) * squared_norm + kSummationError * residual;
}

/// By how much rounding can have made an error of rank k larger than exact factors would have, or
/// measured it wrongly.
double rounding_error(Precision precision, int k, int n, double residual, double squared_norm) {
  switch (precision) {
    case Precision::float16:
      return summation_rounding(k, residual, squared_norm);
    case Precision::float32:
      return factor_rounding(1e-7, residual, squared_norm) +
             summation_rounding(k, residual, squared_norm);
    case Precision::float64_gram:
      return n * kEpsilon * squared_norm;
    case Precision::float64:
      break;
  }
  return factor_rounding(n * kEpsilon, residual, squared_norm);
}

/// The PSNR between an error and the optimum, which is at most `gap` below it.
double gap_to_db(double residual, double gap) {
  if (!(gap < residual)) return std::numeric_limits<double>::infinity();
  return -10 * std::log10(1 - gap / residual);
}

}  // namespace

double loss_estimate_db(const RitzValues& values, int k, double residual, double squared_norm,
                        Precision precision) {
  if (is_negligible(residual)) return 0;
  const auto l = values.ritz.size();
  const auto rank = std::size_t(k);
  // From the error, since ||A||^2 - sum theta would drown in what rounding does to the largest.
  const double inside_energy =
      std::accumulate(values.ritz.begin() + std::ptrdiff_t(rank), values.ritz.end(), 0.0);
  const double outside_energy = std::max(0.0, residual - inside_energy);
  const double mean_outside = outside_energy / std::max(1.0, double(values.n) - double(l));
  const double middle_value = values.ritz[(rank + l) / 2];
  const double outside_bound =
      middle_value >= mean_outside ? std::max(middle_value, 2 * mean_outside) : outside_energy;
  constexpr double kMinRatio = 0.99, kMaxRatio = 2;
  double missed_energy = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const double theta = values.ritz[i];
    const double rayleigh_quotients = values.rayleigh_quotients[i];
    if (!(theta > outside_bound && rayleigh_quotients >= kMinRatio * theta &&
          rayleigh_quotients <= kMaxRatio * theta))
      return std::numeric_limits<double>::infinity();
    missed_energy +=
        std::max(0.0, rayleigh_quotients - theta) * outside_bound / (theta - outside_bound);
  }
  return gap_to_db(
      residual, 2 * missed_energy + rounding_error(precision, k, values.n, residual, squared_norm));
}

double loss_estimate_db(int k, int n, double residual, double squared_norm, Precision precision) {
  if (is_negligible(residual)) return 0;
  return gap_to_db(residual, rounding_error(precision, k, n, residual, squared_norm));
}

}  // namespace eckart
