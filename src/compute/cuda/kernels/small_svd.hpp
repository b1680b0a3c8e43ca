#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/kernels/rotate.hpp"

namespace eckart::compute::cuda {

/// Singular values and left singular vectors of matrices B with l columns, from their Gram matrices
/// S = B'B: Cholesky S = R'R in float64, one-sided Jacobi R = U Sigma W' in float32, M = R^-1 U_k
/// (Demmel and Veselic, 1992). The left vectors of the k largest values are the columns of B M. The
/// relative accuracy does not depend on the scale of the columns. Columns are dropped as in
/// cholesky_float32().
///
/// - `s_ll` is S in float64, row-major; the lower triangle is read. It is overwritten.
/// - `l` is a multiple of 16, at most max_float16_columns().
/// - `columns` >= k is a multiple of 16.
/// - `sigma_squared` receives l values per matrix, descending; matrices are `stride` values apart.
/// - `m_lk` receives M, l x columns. The columns after the k-th are zero.
/// - `work_ll` is workspace, l x l floats per matrix.
/// - `info` receives 1 if Jacobi did not converge or a column is NaN, otherwise 0. If all of S is
///   NaN, the values are 0.
/// - `ill_conditioned` receives 1 if less than a tenth of the norm of a column is orthogonal to the
///   columns before it, otherwise 0. If it is 1, the columns of B M are orthonormal only to about
///   1e-3.
///
/// Asynchronous. Throws as check_launch() does, and std::logic_error if l is above kMaxSmallOrder.
void small_svd(double* s_ll, int l, int k, int columns, double* sigma_squared, int stride,
               const SmallMatrix& m_lk, float* work_ll, int* info, int* ill_conditioned, int count,
               cudaStream_t stream);

/// The largest order l for which small_svd() and rotate_split() have enough shared memory on this
/// device. At most kMaxSmallOrder. Throws as check() does.
int max_float16_columns(int device);

}  // namespace eckart::compute::cuda
