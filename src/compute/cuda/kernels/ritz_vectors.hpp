#pragma once

#include <cuda_runtime.h>

namespace eckart::cuda {

/// Of eigenvectors W (l x l, column-major, one matrix after the other) and eigenvalues (l each,
/// ascending) of B'B, B with l columns: divides the k largest's columns by the square roots of
/// their values, in place, so that B times them has orthonormal columns, and writes all values in
/// descending order, `stride` apart from matrix to matrix. Values of zero, or below, get a column
/// of zeros. Values that are only rounding are treated like others; B times their columns need not
/// be orthonormal, which is left to the certificate.
void whiten(double* w_ll, const double* ascending, int l, int k, double* descending, int stride,
            int count, cudaStream_t stream);

/// Squared lengths of the columns of V (n x k, column-major, one matrix after the other) from the
/// last to the first, `stride` apart from matrix to matrix.
void squared_column_norms(const double* v_nk, int n, int k, double* norms, int stride, int count,
                          cudaStream_t stream);

/// Lengths of the columns of Y (rows x l, column-major, one matrix after the other), l a matrix.
void column_norms(const double* y, int rows, int l, double* norms, int count, cudaStream_t stream);

}  // namespace eckart::cuda
