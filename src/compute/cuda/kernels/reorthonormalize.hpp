#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace eckart::compute::cuda {

/// Corrects the columns of U, which are orthonormal to about 1e-3, to float32 precision: U (I - E /
/// 2) with E = U'U - I, the nearest orthonormal matrix up to O(E^2). U is m x columns as hi
/// followed by lo, column-major, contiguous, and times `scale`; columns of zeros stay zero. m must
/// be a multiple of 8. Only matrices with a nonzero `needs_correction` are changed; the others cost
/// almost no time.
///   e_cc  workspace, columns x columns floats per matrix
void reorthonormalize(__half* u_split, int m, int columns, float scale, const int* needs_correction,
                      float* e_cc, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
