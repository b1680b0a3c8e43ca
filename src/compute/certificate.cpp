#include "compute/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/quality.hpp"

namespace eckart {
namespace {

constexpr double kSums = 1e-5;  // share of an error that adding it up in float32 can hide
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// What rounding of the factors, a `share` of ||A||_F, adds to an error should it point the same
/// way.
double of_factors(double share, double residual, double squared_norm) {
  return 2 * share * std::sqrt(squared_norm * residual) + share * share * squared_norm;
}

/// Factors that are products added up in float32: columns of 1e-7 of the largest singular value are
/// rounding, and so is what they add to an error, squared. Of the squared norm 2e-11 was lost at
/// most, on flat images with specks.
double of_sums(int k, double residual, double squared_norm) {
  constexpr double kLost = 1e-10, kLostAColumn = 1e-12;
  return (kLost + k * kLostAColumn) * squared_norm + kSums * residual;
}

/// By how much rounding can have made an error of rank k larger than exact factors would have, or
/// measured it wrongly.
double rounding(Precision precision, int k, int n, double residual, double squared_norm) {
  switch (precision) {
    case Precision::halves:
      return of_sums(k, residual, squared_norm);
    case Precision::float32:
      return of_factors(1e-7, residual, squared_norm) + of_sums(k, residual, squared_norm);
    case Precision::squared_float64:
      return n * kEpsilon * squared_norm;
    case Precision::float64:
      break;
  }
  return of_factors(n * kEpsilon, residual, squared_norm);
}

/// The PSNR between an error and the optimum, which is at most `gap` below it.
double between_db(double residual, double gap) {
  if (!(gap < residual)) return std::numeric_limits<double>::infinity();
  return -10 * std::log10(1 - gap / residual);
}

}  // namespace

double most_loss_db(const RitzValues& values, int k, double residual, double squared_norm,
                    Precision precision) {
  if (negligible(residual)) return 0;
  const auto l = values.ritz.size();
  const auto rank = std::size_t(k);
  // From the error, since ||A||^2 - sum theta would drown in what rounding does to the largest.
  const double held =
      std::accumulate(values.ritz.begin() + std::ptrdiff_t(rank), values.ritz.end(), 0.0);
  const double not_held = std::max(0.0, residual - held);
  const double mean_outside = not_held / std::max(1.0, double(values.n) - double(l));
  const double halfway = values.ritz[(rank + l) / 2];
  const double outside = halfway >= mean_outside ? std::max(halfway, 2 * mean_outside) : not_held;
  constexpr double kLeast = 0.99, kMost = 2;
  double missed = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const double theta = values.ritz[i];
    const double refined = values.refined[i];
    if (!(theta > outside && refined >= kLeast * theta && refined <= kMost * theta))
      return std::numeric_limits<double>::infinity();
    missed += std::max(0.0, refined - theta) * outside / (theta - outside);
  }
  return between_db(residual,
                    2 * missed + rounding(precision, k, values.n, residual, squared_norm));
}

double most_loss_db(int k, int n, double residual, double squared_norm, Precision precision) {
  if (negligible(residual)) return 0;
  return between_db(residual, rounding(precision, k, n, residual, squared_norm));
}

}  // namespace eckart
