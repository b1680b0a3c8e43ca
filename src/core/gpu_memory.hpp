#pragma once

namespace eckart {

/// The share of a GPU's memory that all lanes on it take together, unless something else is asked
/// for: the rest is for the libraries, and for other processes.
constexpr double kDefaultGpuMemoryFraction = 0.8;

}  // namespace eckart
