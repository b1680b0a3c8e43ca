#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace eckart::compute::cuda::bench {

/// What can limit a kernel: bytes of device memory per second, flops per second (float16 with
/// float32 sums on tensor cores, float64 on tensor cores, float32), or bytes of shared memory per
/// second.
enum class RooflineBound { memory, tensor, float64, float32, shared };
inline constexpr std::array kRooflineBounds = {RooflineBound::memory, RooflineBound::tensor,
                                               RooflineBound::float64, RooflineBound::float32,
                                               RooflineBound::shared};
std::string_view to_string(RooflineBound bound);

/// The minimum work of a kernel.
struct KernelWork {
  double bytes;  ///< of device memory: every input is read once, every output is written once
  double flops = 0;
  RooflineBound unit = RooflineBound::float64;  ///< the unit that computes the flops
  double shared_bytes = 0;                      ///< read and written
  friend KernelWork operator*(int count, const KernelWork& w) {
    return {count * w.bytes, count * w.flops, w.unit, count * w.shared_bytes};
  }
};

/// Peak rates of this device per second, by RooflineBound.
struct Peaks {
  std::array<double, kRooflineBounds.size()> per_s{};
  double& operator[](RooflineBound bound) { return per_s[std::size_t(bound)]; }
  double operator[](RooflineBound bound) const { return per_s[std::size_t(bound)]; }
};

/// The minimum time for some work at the peak rates, and the rate that determines it.
struct RooflineLimit {
  RooflineBound bound;
  double us;
};
RooflineLimit roofline_limit(const KernelWork& work, const Peaks& peaks);

}  // namespace eckart::compute::cuda::bench
