#pragma once

#include <cstdint>

namespace eckart {

/// SplitMix64 (Steele, Lea and Flood, 2014): the same numbers from the same seed on every platform.
/// What is derived from them uses only operations that IEEE 754 rounds exactly, so nothing of the C
/// library.
class Random {
 public:
  /// Different `stream`s of one seed are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(mix(seed) + stream)) {}

  std::uint64_t bits() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  /// In [0, 1), a multiple of 2^-53.
  double uniform() { return double(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, count); count > 0 and far under 2^32, or the last values come less often.
  int uniform_int(int count) { return int(((bits() >> 32) * std::uint64_t(count)) >> 32); }
  /// Standard normal: Marsaglia's polar method.
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

}  // namespace eckart
