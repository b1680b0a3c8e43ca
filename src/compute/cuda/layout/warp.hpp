#pragma once

namespace eckart::compute::cuda {

inline constexpr int kWarpSize = 32;               ///< threads
inline constexpr unsigned kAllLanes = 4294967295;  ///< all threads of a warp, as a mask

}  // namespace eckart::compute::cuda
