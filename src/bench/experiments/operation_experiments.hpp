#pragma once

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

// The experiments on operations. They return early, with what there is, after a stop request.

/// Reconstructions from given factors, by kernels and libraries.
ExperimentResult bench_kernels(const Devices& devices, const ExperimentOptions& options);
/// Square products and transposes, in float32 and float64.
ExperimentResult bench_matmul(const Devices& devices, const ExperimentOptions& options);
/// Operations that memory limits: sums of vectors, and matrices times vectors.
ExperimentResult bench_bandwidth(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
