#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace eckart::simulation {

/// Random numbers from a seed. The distributions of the standard library differ between
/// implementations, so they are not used.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniformly distributed in (0, 1].
  double uniform() { return double((engine_() >> 11) + 1) * 0x1p-53; }
  double exponential(double mean) { return -mean * std::log(uniform()); }
  /// Returns a factor with mean 1. `variation` is its standard deviation.
  double lognormal(double variation) {
    const double variance = std::log1p(variation * variation);  // of the logarithm
    return std::exp(std::sqrt(variance) * normal() - 0.5 * variance);
  }

 private:
  /// By Box and Muller (1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  std::mt19937_64 engine_;
};

}  // namespace eckart::simulation
