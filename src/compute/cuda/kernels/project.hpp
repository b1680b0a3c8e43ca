#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "compute/cuda/layout/tiles.hpp"

namespace eckart::compute::cuda {

/// V = scale A'U for matrices A = hi + lo and U = hi + lo; V is also stored as hi + lo. A is
/// transposed (n x m), as unpack_float16() writes it; `a_lo_t` may be null. U is m x columns with
/// lo after hi. Sums are in float32; V has about 22 bits, the precision of hi + lo.
///
/// Also writes the squared norms of V's columns, `stride` apart from matrix to matrix.
/// `tile_squared_norms` is workspace of project_tile_count(n) * columns floats per matrix. m, n and
/// columns must be multiples of 16. Asynchronous. Throws as check_launch() does.
void project(const __half* a_hi_t, const __half* a_lo_t, const __half* u_split, int m, int n,
             int columns, float scale, __half* v_split, float* tile_squared_norms,
             double* squared_column_norms, int stride, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
