#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace eckart::cuda::bench {

/// What can hold a kernel up: bytes of device memory a second, flops a second (float16 with float32
/// sums on the tensor cores, float64 there, float32), bytes of shared memory a second.
enum class RooflineBound { memory, tensor, float64, float32, shared };
inline constexpr std::array kRooflineBounds = {RooflineBound::memory, RooflineBound::tensor,
                                               RooflineBound::float64, RooflineBound::float32,
                                               RooflineBound::shared};
std::string_view to_string(RooflineBound bound);

/// What a kernel cannot do without.
struct KernelWork {
  double bytes;  ///< of device memory: every input read once, every output written once
  double flops = 0;
  RooflineBound unit = RooflineBound::float64;  ///< that does the flops
  double shared_bytes = 0;                      ///< read and written
  friend KernelWork operator*(int count, const KernelWork& w) {
    return {count * w.bytes, count * w.flops, w.unit, count * w.shared_bytes};
  }
};

/// What this device does in a second, by RooflineBound.
struct Peaks {
  std::array<double, kRooflineBounds.size()> per_s{};
  double& operator[](RooflineBound bound) { return per_s[std::size_t(bound)]; }
  double operator[](RooflineBound bound) const { return per_s[std::size_t(bound)]; }
};

/// The least time that the peaks leave for some work, and which of them it is due to.
struct RooflineLimit {
  RooflineBound bound;
  double us;
};
RooflineLimit roofline_limit(const KernelWork& work, const Peaks& peaks);

}  // namespace eckart::cuda::bench
