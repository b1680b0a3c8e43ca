#include "compute/cuda/solvers/block_cholesky_qr.hpp"

#include <algorithm>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/solvers/batched.hpp"

namespace eckart::cuda {
void BlockCholeskyQr::solve(const Handles& handles, double* y, int rows, int l, double* q,
                            int count) const {
  column_lengths(y, rows, l, lengths, count, handles.stream);
  const Block all = whole(y, rows, l), orthonormal = whole(q, rows, l);
  const int most = block_columns(l);
  for (int first = 0; first < l; first += most) {
    const int columns = std::min(most, l - first), rest = l - first - columns;
    const Block block = all.from(0, first), q_block = orthonormal.from(0, first);
    multiply(handles, columns, columns, rows, block.as(CUBLAS_OP_T), block.as(CUBLAS_OP_N), s,
             count);
    inverse_cholesky(s, columns, count, handles.stream, lengths + first, l);
    multiply(handles, rows, columns, columns, 1, block.as(CUBLAS_OP_N),
             whole(s, columns, columns).as(CUBLAS_OP_N), 0, q_block, count);
    if (rest == 0) return;
    const Block behind = all.from(0, first + columns);
    multiply(handles, columns, rest, rows, q_block.as(CUBLAS_OP_T), behind.as(CUBLAS_OP_N), s,
             count);
    multiply(handles, rows, rest, columns, -1, q_block.as(CUBLAS_OP_N),
             whole(s, columns, rest).as(CUBLAS_OP_N), 1, behind, count);
  }
}

}  // namespace eckart::cuda
