#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "compute/cuda/layout/plane_layout.hpp"

namespace eckart::compute::cuda {

/// Converts samples, multiplied by their scale, to float64 matrices, padded with zeros. a_t[p] is A
/// of planes[p] transposed, column-major n x m (leading dimension n), p < count. All pointers are
/// device pointers. Asynchronous. Throws as check_launch() does.
void unpack(const std::byte* pixels, const PlaneLayout* planes, int count, int m, int n,
            double* a_t, cudaStream_t stream);

/// Returns cudaSuccess if this build has device code for the current device, otherwise the error.
cudaError_t device_code_status();

}  // namespace eckart::compute::cuda
