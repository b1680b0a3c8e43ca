#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/kernels/rotate.hpp"

namespace eckart::compute::cuda {

/// Singular values and left singular vectors of matrices B with l columns, from their Gram matrices
/// S = B'B (float64, lower triangle, row-major; overwritten). The left vectors of the k largest
/// values are the columns of B M. Cholesky S = R'R in float64, one-sided Jacobi R = U Sigma W' in
/// float32, M = R^-1 U_k (Demmel and Veselic, 1992). The relative accuracy does not depend on the
/// scale of the columns. Columns are dropped as in cholesky_float32(). l must be a multiple of 16.
///   sigma_squared    l values, descending, `stride` apart from matrix to matrix
///   m_lk             l x columns; columns >= k is a multiple of 16; columns after the k-th are
///   zero work_ll          workspace, l x l floats per matrix info             1 if Jacobi did not
///   converge or a column is NaN, else 0; if S is all NaN, the
///                    values are 0
///   ill_conditioned  1 if less than a tenth of the norm of a column is orthogonal to those before
///   it;
///                    the columns of B M are then orthonormal to about 1e-3 only; else 0
void small_svd(double* s_ll, int l, int k, int columns, double* sigma_squared, int stride,
               const SmallMatrix& m_lk, float* work_ll, int* info, int* ill_conditioned, int count,
               cudaStream_t stream);

/// The largest order l for which small_svd() and rotate_split() have enough shared memory on this
/// device.
int max_float16_columns(int device);

}  // namespace eckart::compute::cuda
