#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/layout/filter_pass.hpp"

namespace eckart::compute::cuda {

/// Filters each image along one side: passes[p] for p < count. `max_out_samples` is the maximum of
/// FilterPass::out_samples(). Two launches, of the rows and then of the columns, resize images; the
/// result equals that of preparation::resize(). All pointers are device pointers; `out` must not
/// overlap `in`. Asynchronous. Throws as check_launch() does.
void filter_side(const std::byte* in, const FilterPass* passes, int count,
                 std::int64_t max_out_samples, const FilterWindow* windows,
                 const std::int32_t* weights, std::byte* out, cudaStream_t stream);

}  // namespace eckart::compute::cuda
