#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Compares CPU and GPU on batches of different sizes, in their first and in later calls. Returns
/// early after a stop request.
ExperimentResult bench_crossover(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
