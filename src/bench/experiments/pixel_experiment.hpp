#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Compares the kernels with which runs reconstruct pixels with cuBLAS, and with OpenBLAS on the
/// CPU.
ExperimentResult bench_pixels(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
