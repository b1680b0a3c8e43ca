#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Compares batches of images that are decomposed one after the other, on several streams, and in
/// batches. Returns early after a stop request.
ExperimentResult bench_lanes(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
