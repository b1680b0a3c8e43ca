#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// Batches of images from given factors: one after the other, on several streams, double-buffered,
/// and as one call. Returns early, with what there is, after a stop request.
ExperimentResult bench_streams(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
