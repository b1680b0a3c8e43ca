#include "tests/backend/cuda/bench/roofline.hpp"

#include <utility>

namespace eckart::compute::cuda::bench {

std::string_view to_string(RooflineBound bound) {
  constexpr std::array<std::string_view, kRooflineBounds.size()> kNames = {
      "memory", "tensor", "float64", "float32", "shared"};
  return kNames[std::size_t(bound)];
}

RooflineLimit roofline_limit(const KernelWork& work, const Peaks& peaks) {
  RooflineLimit highest{RooflineBound::memory, 0};
  const std::array<std::pair<RooflineBound, double>, 3> amounts = {
      {{RooflineBound::memory, work.bytes},
       {work.unit, work.flops},
       {RooflineBound::shared, work.shared_bytes}}};
  for (const auto& [bound, amount] : amounts) {
    const double us = 1e6 * amount / peaks[bound];
    if (us > highest.us) highest = {bound, us};
  }
  return highest;
}

}  // namespace eckart::compute::cuda::bench
