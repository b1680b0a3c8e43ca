#pragma once

#include <nlohmann/json.hpp>

#include "tests/backend/cuda/bench/kernel.hpp"

namespace eckart::cuda::bench {

/// The subspace solver on a batch, from the first launch until the host knows that it is done:
/// queued kernel by kernel, and as one CUDA graph.
nlohmann::json measure_solve(const Handles& handles, const KernelCase& c, int repeats);

}  // namespace eckart::cuda::bench
