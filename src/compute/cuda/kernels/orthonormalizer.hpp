#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/kernels/rotate.hpp"

namespace eckart::compute::cuda {

/// The limits of shifted Cholesky on a matrix with a unit diagonal.
struct PivotLimits {
  float shift;  ///< added to the diagonal
  float min;    ///< a pivot of at most this is rounding: its column becomes zero
};

/// For each Gram matrix S = Z'Z of order l (contiguous, both triangles): the upper triangular M
/// such that the columns of Z M are orthonormal, in the format of rotate(). M = R^-1, where R is
/// the Cholesky factor of S scaled to a unit diagonal plus `limits.shift` (shifted Cholesky QR:
/// Fukaya, Kannan, Nakatsukasa, Yamamoto and Yanagisawa, 2020). The shift prevents a breakdown by
/// float32 rounding.
///
/// Directions of Z that are weaker than the shift become shorter. A pivot p leaves a cosine of up
/// to shift / sqrt(p) to the stronger columns. A column of zeros stays zero. A column whose entries
/// would exceed float16 becomes zero.
///
/// Requires l <= kMaxSmallOrder. Asynchronous. Throws as check_launch() does, and std::logic_error
/// if l is too large.
void orthonormalizer(const float* s_ll, int l, PivotLimits limits, const SmallMatrix& m_ll,
                     int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
