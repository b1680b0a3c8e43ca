#include "compute/cuda/solvers/block_cholesky_qr.hpp"

#include <algorithm>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/solvers/batched_linear_algebra.hpp"

namespace eckart::compute::cuda {
void BlockCholeskyQr::orthonormalize(const Handles& handles, double* y, int rows, int l, double* q,
                                     int count) const {
  column_norms(y, rows, l, norms, count, handles.stream);
  const Block all = dense_block(y, rows, l), orthonormal = dense_block(q, rows, l);
  const int max_columns = block_columns(l);
  for (int first = 0; first < l; first += max_columns) {
    const int columns = std::min(max_columns, l - first), rest = l - first - columns;
    const Block block = all.sub_block(0, first), q_block = orthonormal.sub_block(0, first);
    multiply(handles, columns, columns, rows, block.as(CUBLAS_OP_T), block.as(CUBLAS_OP_N), s,
             count);
    inverse_cholesky(s, columns, count, handles.stream, norms + first, l);
    multiply(handles, rows, columns, columns, 1, block.as(CUBLAS_OP_N),
             dense_block(s, columns, columns).as(CUBLAS_OP_N), 0, q_block, count);
    if (rest == 0) return;
    const Block remaining = all.sub_block(0, first + columns);
    multiply(handles, columns, rest, rows, q_block.as(CUBLAS_OP_T), remaining.as(CUBLAS_OP_N), s,
             count);
    multiply(handles, rows, rest, columns, -1, q_block.as(CUBLAS_OP_N),
             dense_block(s, columns, rest).as(CUBLAS_OP_N), 1, remaining, count);
  }
}

}  // namespace eckart::compute::cuda
