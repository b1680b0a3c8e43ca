#pragma once

#include <cstdint>

namespace eckart::synth {

/// SplitMix64 (Steele, Lea and Flood, 2014): the same seed gives the same numbers on every
/// platform. Derived values use only operations that IEEE 754 rounds exactly, and no functions of
/// the C library that may differ.
class Random {
 public:
  /// Streams of one seed are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(mix(seed) + stream)) {}

  std::uint64_t bits() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return double(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, count). `count` must be positive and much smaller than 2^32; otherwise the distribution
  /// is not uniform.
  int uniform_int(int count) { return int(((bits() >> 32) * std::uint64_t(count)) >> 32); }
  /// Standard normal distribution, by the polar method of Marsaglia.
  double normal();

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace eckart::synth
