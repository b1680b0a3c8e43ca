#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace eckart::cuda::bench {

/// What can hold a kernel up: bytes of device memory a second, flops a second (float16 with float32
/// sums on the tensor cores, float64 there, float32), bytes of shared memory a second.
enum class Bound { memory, tensor, float64, float32, shared };
inline constexpr std::array kBounds = {Bound::memory, Bound::tensor, Bound::float64, Bound::float32,
                                       Bound::shared};
std::string_view to_string(Bound bound);

/// What a kernel cannot do without.
struct Work {
  double bytes;  ///< of device memory: every input read once, every output written once
  double flops = 0;
  Bound unit = Bound::float64;  ///< that does the flops
  double shared_bytes = 0;      ///< read and written
  friend Work operator*(int count, const Work& w) {
    return {count * w.bytes, count * w.flops, w.unit, count * w.shared_bytes};
  }
};

/// What this device does in a second, by Bound.
struct Peaks {
  std::array<double, kBounds.size()> per_s{};
  double& operator[](Bound bound) { return per_s[std::size_t(bound)]; }
  double operator[](Bound bound) const { return per_s[std::size_t(bound)]; }
};

/// The least time that the peaks leave for some work, and which of them it is due to.
struct Roof {
  Bound bound;
  double us;
};
Roof roof(const Work& work, const Peaks& peaks);

}  // namespace eckart::cuda::bench
