#pragma once

#include <cuda_runtime.h>

namespace eckart::cuda {

/// For each symmetric positive semidefinite S = R'R of order l (float64, column-major, leading
/// dimension l, one after the other; overwritten): the inverse of its upper triangular Cholesky
/// factor R, zeros below the diagonal. So the columns of Y R^-1 are orthonormal where S = Y'Y. A
/// direction of Y that rounding cannot tell from the ones before it gets a column of zeros. l at
/// most most_small_columns() of small_svd.hpp.
void inverse_cholesky(double* s_ll, int l, int count, cudaStream_t stream);

}  // namespace eckart::cuda
