#include "compute/cuda/solvers/batched_linear_algebra.hpp"
#include "compute/cuda/solvers/full_svd_solver.hpp"

namespace eckart::compute::cuda {
namespace {

class Gram : public RightSingularVectorSolver {
 public:
  ValueOrder order() const override { return ValueOrder::ascending_squares; }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    return eigen_.workspace_bytes(handles, problem.n, problem.count);
  }

  void solve(const Handles& handles, const Problem& problem,
             const SingularVectorBatch& batch) override {
    const int m = problem.m, n = problem.n, count = problem.count;
    const std::int64_t matrix = std::int64_t(n) * m;
    // G = A'A; the eigenvectors overwrite it
    multiply(handles, n, n, m, {CUBLAS_OP_N, batch.a_t_nm, n, matrix},
             {CUBLAS_OP_T, batch.a_t_nm, n, matrix}, batch.v, count);
    eigen_.solve(handles, batch.v, n, count, batch.values, batch.info, batch.workspace,
                 batch.workspace_bytes);
  }

 private:
  BatchedSymmetricEigen eigen_;
};

}  // namespace

std::unique_ptr<RightSingularVectorSolver> make_gram() { return std::make_unique<Gram>(); }

}  // namespace eckart::compute::cuda
