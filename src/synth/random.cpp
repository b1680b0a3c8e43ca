#include "synth/random.hpp"

#include <cmath>

namespace eckart::synth {
namespace {

/// The natural logarithm for 0 < x < 1. The last bit of std::log may differ between C libraries.
double log_portable(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  constexpr double kSqrtHalf = 0.707106781186547524401;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < kSqrtHalf) {
    mantissa *= 2;
    --exponent;
  }
  const double t = (mantissa - 1) / (mantissa + 1);  // ln m = 2 artanh t, and |t| < 0.172
  double series = 0;
  for (int odd = 21; odd >= 1; odd -= 2) series = series * (t * t) + 1.0 / odd;
  return exponent * kLn2 + 2 * t * series;
}

}  // namespace

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u = 0, v = 0, s = 0;
  do {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = std::sqrt(-2 * log_portable(s) / s);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

}  // namespace eckart::synth
