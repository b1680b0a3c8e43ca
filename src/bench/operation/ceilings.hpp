#pragma once

#include "bench/operation/operation.hpp"

namespace eckart::bench {

/// What a device can do at most, measured: 0 if it was not.
struct Ceilings {
  double bytes_per_s = 0;                       ///< read and written, in memory
  double float32_per_s = 0, float64_per_s = 0;  ///< additions and multiplications
  double tensor_per_s = 0;  ///< of products in float32 by three products on tensor cores

  double flops_per_s(Precision precision) const {
    return precision == Precision::float32 ? float32_per_s : float64_per_s;
  }
};

/// The shortest time of an operation on a device with these ceilings, in seconds.
double shortest_time(const Shape& shape, const Ceilings& ceilings, bool uses_tensor_cores);

}  // namespace eckart::bench
