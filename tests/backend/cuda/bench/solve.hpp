#pragma once

#include <nlohmann/json.hpp>

#include "tests/backend/cuda/bench/kernel.hpp"

namespace eckart::compute::cuda::bench {

/// Measures the subspace solver on a batch, from the first launch until the host sees its end:
/// kernel by kernel, and as one CUDA graph.
nlohmann::json measure_solve(const Handles& handles, const KernelCase& c, int repeats);

}  // namespace eckart::compute::cuda::bench
