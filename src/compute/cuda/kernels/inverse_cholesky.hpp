#pragma once

#include <cuda_runtime.h>

namespace eckart::cuda {

/// Of symmetric positive semidefinite matrices S = R'R of order l (float64, column-major, leading
/// dimension l, one after the other; overwritten), R upper triangular, l at most
/// max_float16_columns() of small_svd.hpp. Where S = Y'Y the columns of Y R^-1 are orthonormal.
///
/// S becomes R^-1, zeros below the diagonal. A direction of Y that rounding cannot tell from the
/// ones before it gets a column of zeros: with `lengths`, where next to nothing is left of a column
/// that was so long (l of them a matrix, `stride` apart) before others were taken off it.
void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream,
                      const double* norms = nullptr, int stride = 0);

/// Each matrix becomes R in float32, column by column in the first half of its memory, and its
/// inverse goes to `inverse_ll`, likewise column by column. Directions of Y of which less than a
/// thousandth is not in those before them are left out, as rows of zeros in R and columns of zeros
/// in R^-1: float32 columns have too little of them.
void cholesky_float32(double* s_ll, int l, float* inverse_ll, int count, cudaStream_t stream);

}  // namespace eckart::cuda
