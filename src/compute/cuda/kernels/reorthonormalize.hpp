#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace eckart::cuda {

/// Makes the columns of U (m x columns as two float16 numbers, hi and lo, hi and lo behind it,
/// column-major, one matrix after the other; `scale` times orthonormal columns or zero ones) as
/// orthonormal as float32 knows, where they are so to about 1e-3: U (I - E / 2), E = U'U - I, the
/// nearest orthonormal matrix but for E^2. Only where `wanted` is not 0, the others cost nothing. m
/// is a multiple of 8.
///   e_cc  columns x columns floats a matrix, for the kernels
void reorthonormalize(__half* u_split, int m, int columns, float scale, const int* needs_correction,
                      float* e_cc, int count, cudaStream_t stream);

}  // namespace eckart::cuda
