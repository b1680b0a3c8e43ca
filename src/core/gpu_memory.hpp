#pragma once

namespace eckart {

/// The default share of a GPU's memory that all lanes on this GPU use together. The rest is left to
/// the CUDA libraries and to other processes.
constexpr double kDefaultGpuMemoryFraction = 0.8;

}  // namespace eckart
