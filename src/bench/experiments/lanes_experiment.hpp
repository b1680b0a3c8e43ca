#pragma once

#include <vector>

#include "bench/experiments/devices.hpp"
#include "bench/experiments/experiment.hpp"

namespace eckart::bench {

/// The columns of tables about schedules: batch, schedule, time, rate, speedup, busy engines.
std::vector<Column> schedule_columns();

/// Compares batches of images that are decomposed one after the other, on several streams, and in
/// batches. Returns early after a stop request.
ExperimentResult bench_lanes(const Devices& devices, const ExperimentOptions& options);

}  // namespace eckart::bench
