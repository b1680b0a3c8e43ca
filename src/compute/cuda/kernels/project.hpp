#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "compute/cuda/layout/tiles.hpp"

namespace eckart::cuda {

/// V = scale A'U for matrices A = hi + lo, given transposed as unpack_float16() leaves them (n x m;
/// `lo_t` may be null), and U = hi + lo (m x columns, lo behind hi): V = hi + lo likewise. Sums in
/// float32, rounded: about 22 bits, as good as the split. Writes the squared lengths of V's
/// columns, `stride` apart from matrix to matrix; `tile_squared_norms` has room for
/// project_tile_count(n) * columns floats a matrix. m, n and columns are multiples of 16.
void project(const __half* a_hi_t, const __half* a_lo_t, const __half* u_split, int m, int n,
             int columns, float scale, __half* v_split, float* tile_squared_norms,
             double* squared_column_norms, int stride, int count, cudaStream_t stream);

}  // namespace eckart::cuda
