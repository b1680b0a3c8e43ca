#pragma once

#include <cuda_runtime.h>

namespace eckart::compute::cuda {

// These functions are asynchronous. They throw as check_launch() does.

/// Whitens eigenvectors W of B'B (l x l, column-major, contiguous; eigenvalues ascending, l per
/// matrix): the columns of the k largest eigenvalues are divided by their square roots, in place,
/// so that B W_k Theta_k^(-1/2) has orthonormal columns. Writes all eigenvalues in descending
/// order, `stride` apart from matrix to matrix.
///
/// An eigenvalue of at most zero gets a column of zeros. Eigenvalues at rounding level are treated
/// like others; their columns of B W need not be orthonormal, which the certificate checks.
void whiten(double* w_ll, const double* ascending, int l, int k, double* descending, int stride,
            int count, cudaStream_t stream);

/// The squared norms of the columns of V (n x k, column-major, contiguous), from the last column to
/// the first, `stride` apart from matrix to matrix.
void squared_column_norms(const double* v_nk, int n, int k, double* norms, int stride, int count,
                          cudaStream_t stream);

/// The norms of the columns of Y (rows x l, column-major, contiguous), l per matrix.
void column_norms(const double* y, int rows, int l, double* norms, int count, cudaStream_t stream);

}  // namespace eckart::compute::cuda
