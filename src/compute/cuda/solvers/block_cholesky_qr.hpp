#pragma once

#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::compute::cuda {

/// Orthonormalizes any number of columns in float64: block Gram-Schmidt with Cholesky QR in each
/// block (Stathopoulos and Wu, 2002).
struct BlockCholeskyQr : BlockCholeskyQrBuffers {
  /// Allocates the workspace for `count` matrices of l columns.
  static BlockCholeskyQr allocate(WorkspaceAllocator& allocator, int l, int count) {
    return {BlockCholeskyQrBuffers::allocate(allocator, l, count)};
  }

  /// Computes Q with orthonormal columns that span those of Y (rows x l, column-major, contiguous).
  /// Overwrites Y. A column that depends on those before it within rounding becomes zero. The
  /// deviation from orthogonality is about the condition number of Y'Y times float64's epsilon.
  /// Asynchronous. Throws as check() does.
  void orthonormalize(const Handles& handles, double* y, int rows, int l, double* q,
                      int count) const;
};

}  // namespace eckart::compute::cuda
