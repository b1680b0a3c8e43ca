#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::compute::cuda {

/// cuSOLVER's batched symmetric eigensolver in float64. Eigenvalues are ascending. Throws as
/// check() does.
class BatchedSymmetricEigen {
 public:
  std::size_t workspace_bytes(const Handles& handles, int n, int count) {
    const Sizes sizes = query(handles, n, count);
    host_workspace_.resize(std::max(host_workspace_.size(), sizes.host));
    return sizes.device;
  }

  /// Overwrites `a_nn` (count matrices, column-major) with the eigenvectors. `values_n` are the
  /// eigenvalues.
  void solve(const Handles& handles, double* a_nn, int n, int count, double* values_n, int* info,
             std::byte* workspace, std::size_t workspace_bytes) {
    const Sizes sizes = query(handles, n, count);
    ECKART_CUDA_CHECK_BATCH(
        cusolverDnXsyevBatched(handles.solver, params_.get(), CUSOLVER_EIG_MODE_VECTOR,
                               CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F, a_nn, n, CUDA_R_64F, values_n,
                               CUDA_R_64F, workspace, workspace_bytes, host_workspace_.data(),
                               sizes.host, info, count),
        n, n, count);
  }

 private:
  struct Sizes {
    std::size_t device = 0, host = 0;
  };
  Sizes query(const Handles& handles, int n, int count) const {
    Sizes sizes;
    ECKART_CUDA_CHECK_BATCH(cusolverDnXsyevBatched_bufferSize(
                                handles.solver, params_.get(), CUSOLVER_EIG_MODE_VECTOR,
                                CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F, nullptr, n, CUDA_R_64F,
                                nullptr, CUDA_R_64F, &sizes.device, &sizes.host, count),
                            n, n, count);
    return sizes;
  }

  SolverParamsHandle params_ = ECKART_CUDA_HANDLE(SolverParamsHandle, cusolverDnCreateParams);
  std::vector<std::byte> host_workspace_;
};

/// A column-major float64 block in each matrix of a batch. `stride` is the distance of two matrices
/// in elements.
struct Operand {
  cublasOperation_t op;
  const double* data;
  int leading_dimension;
  std::int64_t stride;
};
struct Block {
  double* data;
  int leading_dimension;
  std::int64_t stride;
  Operand as(cublasOperation_t op) const { return {op, data, leading_dimension, stride}; }
  Block sub_block(int row, int col) const {
    return {data + row + std::int64_t(col) * leading_dimension, leading_dimension, stride};
  }
};
/// Contiguous matrices of a batch.
inline Block dense_block(double* data, int rows, int cols) {
  return {data, rows, std::int64_t(rows) * cols};
}

/// C = alpha op(A) op(B) + beta C for `count` matrices. Asynchronous. Throws as check() does.
inline void multiply(const Handles& handles, int rows, int cols, int inner, double alpha,
                     const Operand& a, const Operand& b, double beta, const Block& c, int count) {
  ECKART_CUDA_CHECK_BATCH(
      cublasDgemmStridedBatched(handles.blas, a.op, b.op, rows, cols, inner, &alpha, a.data,
                                a.leading_dimension, a.stride, b.data, b.leading_dimension,
                                b.stride, &beta, c.data, c.leading_dimension, c.stride, count),
      rows, cols, count, inner);
}
/// C = op(A) op(B) for `count` contiguous matrices C, rows x cols each.
inline void multiply(const Handles& handles, int rows, int cols, int inner, const Operand& a,
                     const Operand& b, double* c, int count) {
  multiply(handles, rows, cols, inner, 1, a, b, 0, dense_block(c, rows, cols), count);
}

}  // namespace eckart::compute::cuda
