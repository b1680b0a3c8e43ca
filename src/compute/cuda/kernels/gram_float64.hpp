#pragma once

#include <cuda_runtime.h>

namespace eckart::compute::cuda {

/// S = B'B in float64 for float32 matrices B (rows x l, column-major, contiguous). Writes the lower
/// triangle of S (l x l, column-major) and parts of the upper one. Requires rows to be a multiple
/// of 4. Asynchronous. Throws as check_launch() does.
void gram_float64(const float* b, int rows, int l, double* s_ll, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
