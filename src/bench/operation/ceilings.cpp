#include "bench/operation/ceilings.hpp"

#include <algorithm>

namespace eckart::bench {

double shortest_time(const Shape& shape, const Ceilings& ceilings, bool uses_tensor_cores) {
  const double flops_per_s =
      uses_tensor_cores ? ceilings.tensor_per_s : ceilings.flops_per_s(shape.precision);
  const double memory_s = ceilings.bytes_per_s > 0 ? shape.bytes() / ceilings.bytes_per_s : 0;
  return std::max(memory_s, flops_per_s > 0 ? shape.flops() / flops_per_s : 0);
}

}  // namespace eckart::bench
