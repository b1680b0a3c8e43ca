#pragma once

#include <cuda_runtime.h>

namespace eckart::compute::cuda {

/// For symmetric positive semidefinite matrices S = R'R with upper triangular R: S becomes R^-1,
/// with zeros below the diagonal. S has order l (float64, column-major, leading dimension l,
/// contiguous). Requires l <= kMaxSmallOrder. If S = Y'Y, the columns of Y R^-1 are
/// orthonormal.
///
/// A column of Y that depends on the columns before it within rounding gets a column of zeros.
/// `norms`, if given, are the norms of the columns before other columns were subtracted from them
/// (l per matrix, `stride` apart). A column of which almost nothing of this norm is left also
/// counts as dependent.
///
/// Asynchronous. Throws as check_launch() does, and std::logic_error if l is too large.
void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream,
                      const double* norms = nullptr, int stride = 0);

/// Each S becomes R in float32, column-major in the first half of its memory. `inverse_ll` becomes
/// R^-1, also column-major. A column of Y is dropped if less than 1/1000 of its norm is orthogonal
/// to the columns before it, because float32 represents that part too poorly. Dropped columns are
/// rows of zeros in R and columns of zeros in R^-1. Requires and throws the same as
/// inverse_cholesky().
void cholesky_float32(double* s_ll, int l, float* inverse_ll, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
