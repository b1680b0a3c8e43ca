#include "tests/backend/cuda/bench/roofline.hpp"

#include <utility>

namespace eckart::cuda::bench {

std::string_view to_string(Bound bound) {
  constexpr std::array<std::string_view, kBounds.size()> kNames = {"memory", "tensor", "float64",
                                                                   "float32", "shared"};
  return kNames[std::size_t(bound)];
}

Roof roof(const Work& work, const Peaks& peaks) {
  Roof highest{Bound::memory, 0};
  const std::array<std::pair<Bound, double>, 3> amounts = {
      {{Bound::memory, work.bytes}, {work.unit, work.flops}, {Bound::shared, work.shared_bytes}}};
  for (const auto& [bound, amount] : amounts) {
    const double us = 1e6 * amount / peaks[bound];
    if (us > highest.us) highest = {bound, us};
  }
  return highest;
}

}  // namespace eckart::cuda::bench
