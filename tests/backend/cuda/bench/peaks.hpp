#pragma once

#include "tests/backend/cuda/bench/roofline.hpp"
#include "tests/backend/cuda/bench/timer.hpp"

namespace eckart::cuda::bench {

/// Measured: a copy of 1 GiB, and cuBLAS's products of large square matrices of random numbers;
/// the fastest repeat counts. Shared memory alone is computed, from the clock that the device names
/// as its highest: 128 bytes a clock on each multiprocessor.
Peaks measure_peaks(const Handles& handles, const KernelTimer& timer);

}  // namespace eckart::cuda::bench
