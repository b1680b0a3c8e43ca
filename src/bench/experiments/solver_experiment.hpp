#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Compares all solvers of runs, on the CPU and a GPU. Returns early after a stop request.
ExperimentResult bench_solvers(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
