#pragma once

#include <cuda_runtime.h>

namespace eckart::cuda {

/// S = B'B in float64 of float32 matrices B (rows x l, column-major, one after the other): the
/// lower triangle of S (l x l, column-major) and parts of the upper. rows must be a multiple of 4.
void gram_float64(const float* b, int rows, int l, double* s_ll, int count, cudaStream_t stream);

}  // namespace eckart::cuda
