#pragma once

#include <memory>

#include "compute/cuda/solvers/solver.hpp"

namespace eckart::compute::cuda {

/// Input and output of a RightSingularVectorSolver, all on the device, float64 and contiguous.
struct SingularVectorBatch {
  const double* a_t_nm;  ///< A transposed, column-major n x m
  double* v;       ///< out: right singular vectors, column-major n x n, in the order of `values`
  double* values;  ///< out: n values
  int* info;       ///< out: one per matrix, 0 if the solver converged
  std::byte* workspace;  ///< at least workspace_bytes()
  std::size_t workspace_bytes;
};

/// Computes the right singular vectors of a batch of matrices in float64. Reports errors as
/// BatchSolver does.
class RightSingularVectorSolver {
 public:
  virtual ~RightSingularVectorSolver() = default;
  virtual ValueOrder order() const = 0;
  virtual std::size_t workspace_bytes(const Handles& handles, const Problem& problem) = 0;
  virtual void solve(const Handles& handles, const Problem& problem,
                     const SingularVectorBatch& batch) = 0;
};

/// Eigenvectors of the Gram matrices A'A: one batched product, one batched eigensolver.
std::unique_ptr<RightSingularVectorSolver> make_gram();
/// cuSOLVER's gesvd, one matrix at a time.
std::unique_ptr<RightSingularVectorSolver> make_gesvd();
/// cuSOLVER's one-sided Jacobi, one matrix at a time.
std::unique_ptr<RightSingularVectorSolver> make_gesvdj();

/// A_k = (A V_k) V_k' in float64.
std::unique_ptr<BatchSolver> make_full_svd_solver(
    std::unique_ptr<RightSingularVectorSolver> vector_solver);

}  // namespace eckart::compute::cuda
