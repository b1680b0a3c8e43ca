#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/kernels/rotate.hpp"

namespace eckart::cuda {

/// Singular values of matrices B (some rows x l) from their Gram matrices S = B'B (float64, the
/// lower triangle, row by row; overwritten), and how to get their left singular vectors: the k
/// largest are the columns of B M. Cholesky S = R'R in float64, one-sided Jacobi on R = U Sigma W'
/// in float32, M = R^-1 U_k: relative accuracy whatever the columns' lengths. Columns of which less
/// than a thousandth is not in those before them are left out, since float32 has too little of
/// them. l must be a multiple of 16.
///   sigma_squared  l values, descending, `stride` apart from matrix to matrix
///   m_lk           l x columns, columns >= k, a multiple of 16; those behind the k-th are zero
///   work_ll        l x l floats a matrix
///   info           1 where Jacobi has not converged or a column is no number, else 0; of an S that
///                  is none at all the values are 0
///   weak           1 where a column had less than a tenth of its own, so that M's rounding makes
///                  the columns of B M orthonormal to about 1e-3 only; else 0
void small_svd(double* s_ll, int l, int k, int columns, double* sigma_squared, int stride,
               const SmallMatrix& m_lk, float* work_ll, int* info, int* ill_conditioned, int count,
               cudaStream_t stream);

/// The largest order l that small_svd() and rotate_split() have shared memory for on this device.
int max_float16_columns(int device);

}  // namespace eckart::cuda
