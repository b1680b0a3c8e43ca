#pragma once

#include "tests/backend/cuda/bench/roofline.hpp"
#include "tests/backend/cuda/bench/timer.hpp"

namespace eckart::compute::cuda::bench {

/// Measures a copy of 1 GiB and cuBLAS products of large square random matrices, and takes the
/// fastest repeat. The peak of shared memory is computed: 128 bytes per clock and multiprocessor,
/// at the highest clock that the device reports.
Peaks measure_peaks(const Handles& handles, const KernelTimer& timer);

}  // namespace eckart::compute::cuda::bench
