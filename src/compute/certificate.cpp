#include "compute/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/quality.hpp"

namespace eckart {
namespace {

/// Squared error that factors of an m x n matrix add to ||A||_F^2 = 1. Of float32, or two halves of
/// float16, 1e-14 to 3e-13 was found for sizes from 64^2 to 2048^2.
double rounding(Precision precision, int n) {
  return precision == Precision::float32 ? 1e-12 : n * std::numeric_limits<double>::epsilon();
}

/// The PSNR between an error and the optimum, which is at most `gap` below it.
double between_db(double residual, double gap) {
  if (!(gap < residual)) return std::numeric_limits<double>::infinity();
  return -10 * std::log10(1 - gap / residual);
}

}  // namespace

double most_loss_db(const RitzValues& values, int k, double residual, double squared_norm,
                    Precision precision) {
  if (residual <= negligible_error(squared_norm)) return 0;
  const auto l = values.ritz.size();
  const auto rank = std::size_t(k);
  const double inside = std::accumulate(values.ritz.begin(), values.ritz.end(), 0.0);
  const double mean_outside =
      values.n > int(l) ? std::max(0.0, squared_norm - inside) / (values.n - int(l)) : 0.0;
  const double outside = std::max(values.ritz[(rank + l) / 2], mean_outside);
  double gap = rounding(precision, values.n) * squared_norm;
  for (std::size_t i = 0; i < rank; ++i) {
    const double theta = values.ritz[i];
    if (theta <= outside) return std::numeric_limits<double>::infinity();
    gap += std::max(0.0, values.refined[i] - theta) * outside / (theta - outside);
  }
  return between_db(residual, gap);
}

double most_loss_db(int n, double residual, double squared_norm, Precision precision) {
  if (residual <= negligible_error(squared_norm)) return 0;
  return between_db(residual, rounding(precision, n) * squared_norm);
}

bool is_beyond_float32(double residual, double squared_norm) {
  return !(most_loss_db(0, residual, squared_norm, Precision::float32) <= kMostLossDb);
}

}  // namespace eckart
