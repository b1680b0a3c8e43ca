#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/layout/plane_layout.hpp"

namespace eckart::compute::cuda {

/// Sets the columns of V (n x `columns` for each plane, distances as in Factors) to zero that are
/// beyond the smaller side of a plane, so that products of all columns are right for it. All
/// pointers are device pointers. Asynchronous. Throws as check_launch() does.
void zero_extra_columns(const PlaneLayout* planes, int count, int n, int columns, double* v_nk,
                        std::int64_t v_plane, std::int64_t v_column, cudaStream_t stream);

}  // namespace eckart::compute::cuda
