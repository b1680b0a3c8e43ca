#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// The measured peaks of the devices, and kernels of different arithmetic intensity compared with
/// them (Williams, Waterman and Patterson, 2009). Returns early, with what there is, after a stop
/// request.
ExperimentResult bench_roofline(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
