#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace eckart::compute::cuda {

/// Corrects the columns of U, which are orthonormal to about 1e-3, to float32 precision: U (I - T)
/// with T = E above the diagonal, E / 2 on it, and 0 below; E = U'U - I. Each column is made
/// orthogonal to those before it, up to O(E^2), so no column takes over errors of later, weaker
/// ones. Columns of zeros stay zero.
///
/// - `u_split` is U times `scale`, m x columns as hi followed by lo, column-major, contiguous.
/// - `m` is a multiple of 8.
/// - `needs_correction` has one number per matrix. If it is 0, the matrix is not changed and costs
///   almost no time.
/// - `e_cc` is workspace, columns x columns floats per matrix.
///
/// Asynchronous. Throws as check_launch() does.
void reorthonormalize(__half* u_split, int m, int columns, float scale, const int* needs_correction,
                      float* e_cc, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
