#pragma once

namespace eckart::compute::cuda {

inline constexpr int kWarpSize = 32;  ///< threads

}  // namespace eckart::compute::cuda
