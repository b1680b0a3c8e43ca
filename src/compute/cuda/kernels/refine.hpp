#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace eckart::cuda {

/// Adds the products of U's two halves and splits the sum again: V = V_hi + V_lo of float32
/// matrices (n x 2 columns each: first A'U_hi, then A'U_lo) into float16, hi and then lo, each n x
/// columns. Writes the squared lengths of V's columns, `stride` apart from matrix to matrix. n must
/// be even.
void refine(const float* v_parts, int n, int columns, __half* v_split, double* squared_lengths,
            int stride, int count, cudaStream_t stream);

}  // namespace eckart::cuda
