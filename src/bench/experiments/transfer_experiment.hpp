#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Copies between host and GPU, allocations, and kernels that read memory of the host. Returns
/// early, with what there is, after a stop request.
ExperimentResult bench_transfer(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
