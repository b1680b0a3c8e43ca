#pragma once

#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::cuda {

/// Orthonormal columns in float64, for any number of columns: block Gram-Schmidt, in each block
/// Cholesky QR.
struct BlockCholeskyQr : BlockCholeskyQrBuffers {
  /// For `count` matrices of l columns.
  static BlockCholeskyQr allocate(WorkspaceAllocator& allocator, int l, int count) {
    return {BlockCholeskyQrBuffers::allocate(allocator, l, count)};
  }

  /// The columns of Y (rows x l, column-major, one matrix after the other; overwritten), made
  /// orthonormal: Q, with columns of zeros where rounding cannot tell a column from those before
  /// it. As orthonormal as float64 makes Y'Y: to its condition number times the rounding.
  void solve(const Handles& handles, double* y, int rows, int l, double* q, int count) const;
};

}  // namespace eckart::cuda
