#include "compute/cuda/solvers/block_cholesky_qr.hpp"

#include <algorithm>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/solvers/batched.hpp"

namespace eckart::cuda {
namespace {

constexpr int kMostInBlock = 128;  // of inverse_cholesky() the fastest a column
constexpr int kGranule = 16;       // what the matrix products like

/// Blocks as equal as the granule lets them be.
int block_columns(int l) {
  const int blocks = (l + kMostInBlock - 1) / kMostInBlock;
  return ((l + blocks - 1) / blocks + kGranule - 1) / kGranule * kGranule;
}

}  // namespace

BlockCholeskyQr BlockCholeskyQr::carve(Carver& carver, int l, int count) {
  const auto columns = std::size_t(l), matrices = std::size_t(count);
  // The square of a block, or what the columns behind it have of it.
  return {carver.take<double>(std::size_t(block_columns(l)) * columns * matrices),
          carver.take<double>(columns * matrices)};
}

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
