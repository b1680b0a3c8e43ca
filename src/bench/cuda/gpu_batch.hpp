#pragma once

#include <memory>

#include "bench/operation/batch.hpp"

namespace eckart::bench::cuda {

/// A batch on the current GPU with cuBLAS; n must be a multiple of 4. `streams` is used by
/// Schedule::streams only. Throws as check() of compute/cuda.
std::unique_ptr<PreparedBatch> make_gpu_batch(const BatchShape& shape, Schedule schedule,
                                              int streams, HostMemory memory);

}  // namespace eckart::bench::cuda
