#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/kernels/rotate.hpp"

namespace eckart::cuda {

/// For each Gram matrix S = Z'Z of order l (one after the other, both triangles): the upper
/// triangular M for which the columns of Z M are orthonormal, R^-1 of the Cholesky factor R, as
/// rotate() takes it. S is scaled to a unit diagonal, and `shift` is added to that (shifted
/// Cholesky QR: Fukaya, Kannan, Nakatsukasa, Yamamoto and Yanagisawa, 2020), so that rounding in
/// float32 breaks no factor. Directions of Z weaker than the shift come out shorter, not lost. A
/// column of zeros stays one; one that would want entries beyond float16 becomes one. l at most
/// max_float16_columns() of small_svd.hpp.
void orthonormalizer(const float* s_ll, int l, float shift, const SmallMatrix& m_ll, int count,
                     cudaStream_t stream);

}  // namespace eckart::cuda
